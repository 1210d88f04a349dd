/** Probes look at local state only, and need no token: a sidecar must not take the app down with an API. */
import type { Settings } from '../../config/options.ts';
import type { Fleet } from '../../fleet/view.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { Heartbeats } from '../services/heartbeats.ts';
import { statusPageRoutes } from '../status/page/assets.ts';
import { statusJsonSchema, type Status } from '../status/schema.ts';
import { behindToken } from './access.ts';
import { billRoutes } from './bill/routes.ts';
import { fleetRoutes } from './fleet/routes.ts';
import { json, plain, schemaRoute, type Reply, type Route, type Routes } from './reply.ts';

export interface PublicRouteSources {
  readonly status: () => Status;
  readonly fleet: Fleet;
  readonly lifecycle: Pick<Lifecycle, 'state'>;
  readonly heartbeats: Pick<Heartbeats, 'lateMs'>;
  readonly metrics: Pick<Metrics, 'exposition' | 'contentType'>;
  /** Everything is open without a metrics token. */
  readonly current: { readonly settings: Pick<Settings, 'metricsToken'> };
}

/** /livez fails above this, so that the supervisor restarts the program. */
const STUCK_MS = 10_000;

export function publicRoutes(sources: PublicRouteSources): Routes {
  const { lifecycle, heartbeats, metrics, current } = sources;
  const { page, files } = statusPageRoutes();
  const shown: Routes = {
    'GET /': () => page,
    'GET /api/status': oncePerTurn(() => json(200, sources.status())),
    'GET /api/status/schema': schemaRoute(statusJsonSchema),
    ...fleetRoutes(sources.fleet),
    ...billRoutes(sources.fleet),
    'GET /metrics': async () => ({
      status: 200,
      type: metrics.contentType,
      body: await metrics.exposition(),
    }),
  };
  return {
    // The page has nothing in it but the question for the token, until it gets an answer from /api/status; its files
    // are the same for everybody, and a browser asks for them without a token.
    ...behindToken(shown, () => current.settings.metricsToken, { 'GET /': page }),
    ...files,
    'GET /startupz': () =>
      lifecycle.state === 'starting' ? plain(503, 'starting\n') : plain(200, 'started\n'),
    'GET /readyz': () =>
      lifecycle.state === 'running' ? plain(200, 'ready\n') : plain(503, `${lifecycle.state}\n`),
    'GET /livez'() {
      const late = heartbeats.lateMs();
      return late <= STUCK_MS
        ? plain(200, 'live\n')
        : plain(503, `the heartbeat scheduler is ${Math.round(late / 1000)} s late\n`);
    },
  };
}

/** Requests that arrive together share one answer, so that the daemon still answers the heart in time. */
function oncePerTurn(route: () => Reply): Route {
  let shared: Reply | undefined;
  return () => {
    if (shared === undefined) setImmediate(() => (shared = undefined));
    return (shared ??= route());
  };
}
