/** The daemon's two listeners: one for whoever watches it, one for whoever may change it. */
import type { Logger } from 'pino';
import type { Settings } from '../../config/options/options.ts';
import type { ListenAddress } from '../../config/types/value-types.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import { keepListening, type KeptListener } from './kept-listener.ts';
import type { ListenerOptions, Routes } from './listener.ts';

/** Undefined: the configuration has no such listener. */
export interface Listeners {
  readonly main: KeptListener | undefined;
  readonly admin: KeptListener | undefined;
}

/** Resolves when each has tried to get its address once. They are closed at the end of the lifecycle. */
export async function openListeners(
  settings: Pick<Settings, 'listen' | 'adminListen'>,
  lifecycle: Lifecycle,
  logger: Logger,
  routes: { readonly main: Routes; readonly admin: Routes },
): Promise<Listeners> {
  async function open(
    what: string,
    address: ListenAddress | undefined,
    rest: Pick<ListenerOptions, 'routes' | 'loopbackHostsOnly'>,
  ): Promise<KeptListener | undefined> {
    if (address === undefined) return undefined;
    const onError = (error: unknown, route: string): void =>
      logger.error({ err: error, route }, 'HTTP route failed');
    const listener = await keepListening(what, { address, onError, ...rest }, logger);
    lifecycle.onStop(what, () => listener.close());
    return listener;
  }

  const main = await open('metrics and status page', settings.listen, { routes: routes.main });
  const admin = await open('admin routes', settings.adminListen, {
    routes: routes.admin,
    loopbackHostsOnly: true,
  });
  return { main, admin };
}
