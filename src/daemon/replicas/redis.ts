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
  /** One command and its answer. Within two seconds it rejects: with RedisAway, RedisSilent, or what Redis answered. */
  command(...args: readonly (string | Buffer)[]): Promise<unknown>;
  /** The same with binary answers. */
  binary(...args: readonly string[]): Promise<unknown>;
  close(): void;
}

const TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
const LONGEST_WAIT_MS = 2_000;
const PING_MS = 2_000;
const SILENT_MS = 6_000;
/**
 * What a server says that is not the primary, or not yet. After a failover behind one address the connection still leads
 * to the old one: a new connection looks the address up again. A script has the word within its sentence.
 */
const NOT_PRIMARY = /\b(?:READONLY|LOADING|MASTERDOWN)\b/;

/** Connects in the background, and again after each loss or try that `onError` hears of; `onReady`: there is one. */
export async function connectRedis(
  url: string,
  onError: (error: Error) => void,
  onReady: () => void,
): Promise<Redis> {
  // Imported here: only several replicas need it. Whole, because a bundle knows no names of a CommonJS package.
  const { default: redis } = await import('@redis/client');

  function open() {
    const opened = redis.createClient({
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
    opened.on('error', (error: Error) => {
      // It is there and answers so to all: whoever asks hears it.
      if (!(error instanceof redis.ErrorReply) || !opened.isReady) onError(error);
    });
    opened.on('ready', onReady);
    void opened.connect().catch(() => {});
    return opened;
  }
  let client = open();

  async function ask(args: readonly (string | Buffer)[], isBinary: boolean): Promise<unknown> {
    const asked = client;
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_, reject) => {
      const silent = new RedisSilent(`no answer from Redis in ${TIMEOUT_MS} ms`);
      timer = setTimeout(() => reject(silent), TIMEOUT_MS);
    });
    const options = isBinary ? { typeMapping: { [redis.RESP_TYPES.BLOB_STRING]: Buffer } } : {};
    try {
      return await Promise.race([asked.sendCommand(args, options), overdue]);
    } catch (error) {
      if (!asked.isReady) throw new RedisAway('no connection to Redis', { cause: error });
      if (asked === client && error instanceof redis.ErrorReply && NOT_PRIMARY.test(error.message)) {
        client = open();
        asked.destroy();
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    command: (...args) => ask(args, false),
    binary: (...args) => ask(args, true),
    close: () => client.destroy(),
  };
}
