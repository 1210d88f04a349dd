/**
 * A listener that keeps trying to get its address: a port that is taken now may be free in a minute, and a folder that
 * is missing may be there.
 */
import type { Logger } from 'pino';
import { listen, type HttpListener, type ListenerOptions } from './listener.ts';

export interface KeptListener {
  /** As it is bound; undefined while it is not. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** Between two tries, ms. */
const TRY_AGAIN_MS = 5_000;

/** Resolves after the first try, whatever came of it. `what` names the listener to a person. */
export async function keepListening(
  what: string,
  options: ListenerOptions,
  logger: Logger,
): Promise<KeptListener> {
  let listener: HttpListener | undefined;
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  async function attempt(isFirst: boolean): Promise<void> {
    try {
      const bound = await listen(options);
      if (closed) return await bound.close();
      listener = bound;
      if (!isFirst) logger.info({ url: bound.url }, `${what}: listening now`);
    } catch (error) {
      if (isFirst)
        logger.error({ err: error, ...options.address }, `${what}: cannot listen; it is tried again`);
      if (!closed) again = setTimeout(() => void attempt(false), TRY_AGAIN_MS);
    }
  }

  await attempt(true);
  return {
    get url() {
      return listener?.url;
    },
    async close() {
      closed = true;
      clearTimeout(again);
      await listener?.close();
    },
  };
}
