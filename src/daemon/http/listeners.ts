/** The daemon's two listeners: one for whoever watches it, one for whoever may change it. */
import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import type { AdminAddress } from '../../config/types/addresses.ts';
import type { Redaction } from '../../contract/text/redaction.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import { keepListening, type KeptListener } from './kept-listener.ts';
import type { ListenerOptions } from './listener.ts';
import type { Routes } from './reply.ts';

/** Undefined: the configuration has no such listener. */
export interface Listeners {
  readonly main: KeptListener | undefined;
  readonly admin: KeptListener | undefined;
}

interface ListenerRoutes {
  readonly main: Routes;
  readonly admin: Routes;
  readonly redaction: Redaction;
}

/** Resolves when each has tried to get its address once. They are closed at the end of the lifecycle. */
export async function openListeners(
  settings: Pick<Settings, 'listen' | 'adminListen'>,
  lifecycle: Lifecycle,
  logger: Logger,
  { redaction, ...routes }: ListenerRoutes,
): Promise<Listeners> {
  async function open(
    what: string,
    address: AdminAddress | undefined,
    rest: Pick<ListenerOptions, 'routes' | 'isForPrograms'>,
  ): Promise<KeptListener | undefined> {
    if (address === undefined) return undefined;
    const onError = (error: unknown, route: string): void =>
      logger.error({ err: error, route }, 'HTTP route failed');
    const listener = await keepListening(what, { address, onError, redaction, ...rest }, logger);
    lifecycle.onStop(what, () => listener.close());
    return listener;
  }

  const main = await open('metrics and status page', settings.listen, { routes: routes.main });
  const admin = await open('admin routes', settings.adminListen, {
    routes: routes.admin,
    isForPrograms: true,
  });
  return { main, admin };
}
