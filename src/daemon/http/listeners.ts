import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import type { Redaction } from '../../contract/text/redaction.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import { listen, type HttpListener, type ListenerOptions } from './listener.ts';
import type { Routes } from './reply.ts';

export type KeptListener = Awaited<ReturnType<typeof keepListening>>;

/** Undefined: not configured. */
export type Listeners = Awaited<ReturnType<typeof openListeners>>;

const TRY_AGAIN_MS = 5_000;

/** Resolves when each has tried its address once; a taken port may be free in a minute. */
export async function openListeners(
  { listen: mainAddress, adminListen }: Pick<Settings, 'listen' | 'adminListen'>,
  lifecycle: Lifecycle,
  logger: Logger,
  { redaction, main, admin }: Readonly<Record<'main' | 'admin', Routes>> & { readonly redaction: Redaction },
) {
  async function open(what: string, options: Omit<ListenerOptions, 'onError' | 'redaction'>) {
    const onError = (error: unknown, route: string): void =>
      logger.error({ err: error, route }, 'HTTP route failed');
    const listener = await keepListening(what, { ...options, onError, redaction }, logger);
    lifecycle.onStop(what, () => listener.close());
    return listener;
  }
  return {
    main: mainAddress && (await open('metrics and status page', { address: mainAddress, routes: main })),
    admin:
      adminListen &&
      (await open('admin routes', { address: adminListen, routes: admin, isForPrograms: true })),
  };
}

export async function keepListening(what: string, options: ListenerOptions, logger: Logger) {
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
    async close(): Promise<void> {
      closed = true;
      clearTimeout(again);
      await listener?.close();
    },
  };
}
