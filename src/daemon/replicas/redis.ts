/** Redis as the replicas use it: raw commands, each bounded in time, and no waiting queue while it is away. */

import { PilotlightError } from '../../contract/pilotlight-error.ts';

/** There is no connection; `onError` has heard of it. */
export class RedisAway extends PilotlightError {
  readonly code = 'redis_away';
  readonly actor = 'service';
}

/** There is a connection, and no answer in time. */
export class RedisSilent extends PilotlightError {
  readonly code = 'redis_silent';
  readonly actor = 'service';
}

export interface Redis {
  /**
   * One command and its answer: a string, a number, null, or an array of these. Within two seconds it rejects: with
   * RedisAway, RedisSilent, or with what Redis answered.
   */
  command(...args: readonly string[]): Promise<unknown>;
  close(): void;
}

const TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
const LONGEST_WAIT_MS = 2_000;
const PING_MS = 2_000;
const SILENT_MS = 6_000;

/**
 * Connects in the background, and again after each loss; commands reject while there is no connection.
 * `onError` hears of each try that fails, and whether Redis had done something before; `onReady` when there is one.
 */
export async function connectRedis(
  url: string,
  onError: (error: Error, wasThere: boolean) => void,
  onReady: () => void,
): Promise<Redis> {
  // Imported here: only several replicas need it. Whole, because a bundle knows no names of a CommonJS package.
  const { default: redis } = await import('@redis/client');
  const client = redis.createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    // What keeps a healthy connection from being silent.
    pingInterval: PING_MS,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      // One that takes a connection and never answers is away too: then the socket ends, and the next is tried.
      socketTimeout: SILENT_MS,
      reconnectStrategy: (retries) => Math.min(LONGEST_WAIT_MS, 100 * 2 ** Math.min(retries, 5)),
    },
  });
  let wasThere = false;
  client.on('error', (error: Error) => {
    const isAnswer = error instanceof redis.ErrorReply;
    // It is there and answers so to all: whoever asks hears it.
    if (!isAnswer || !client.isReady) onError(error, wasThere && !isAnswer);
  });
  client.on('ready', onReady);
  void client.connect().catch(() => {});

  return {
    async command(...args) {
      let timer: NodeJS.Timeout | undefined;
      const overdue = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new RedisSilent(`no answer from Redis in ${TIMEOUT_MS} ms`)),
          TIMEOUT_MS,
        );
      });
      try {
        const answer = await Promise.race([client.sendCommand(args), overdue]);
        wasThere = true;
        return answer;
      } catch (error) {
        throw client.isReady ? error : new RedisAway('no connection to Redis', { cause: error });
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => client.destroy(),
  };
}
