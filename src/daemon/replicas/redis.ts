/** Redis as the replicas use it: raw commands, each bounded in time, and no waiting queue while it is away. */

export interface Redis {
  /** One command and its answer: a string, a number, null, or an array of these. Rejects within two seconds. */
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
 * `onError` hears once of each time that it is away, and whether it was there before.
 */
export async function connectRedis(
  url: string,
  onError: (error: Error, wasThere: boolean) => void,
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
  let away = false;
  let wasThere = false;
  client.on('error', (error: Error) => {
    if (!away) onError(error, wasThere);
    away = true;
  });
  client.on('ready', () => {
    away = false;
    wasThere = true;
  });
  void client.connect().catch(() => {});

  return {
    async command(...args) {
      let timer: NodeJS.Timeout | undefined;
      const overdue = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer from Redis in ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
      });
      try {
        return await Promise.race([client.sendCommand(args), overdue]);
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => client.destroy(),
  };
}
