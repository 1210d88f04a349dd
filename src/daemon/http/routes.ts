/**
 * The public routes: status, metrics, probes. Probes look at local state only: a sidecar whose readiness depends on
 * somebody else's API takes the app down with it. They need no token either: whoever runs them has none, and what they
 * tell is a word.
 */
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
  /** The metrics token: without one all is open. */
  readonly inForce: { readonly settings: Pick<Settings, 'metricsToken'> };
}

/** A heartbeat scheduler later than this is stuck. /livez fails, so that whoever runs the program restarts all of it. */
const STUCK_MS = 10_000;

export function publicRoutes(sources: PublicRouteSources): Routes {
  const { lifecycle, heartbeats, metrics, inForce } = sources;
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
    ...behindToken(shown, () => inForce.settings.metricsToken, { 'GET /': page }),
    ...files,
    'GET /startupz': () =>
      lifecycle.state === 'starting' ? plain(503, 'starting\n') : plain(200, 'started\n'),
    'GET /readyz': () =>
      lifecycle.state === 'running' ? plain(200, 'ready\n') : plain(503, `${lifecycle.state}\n`),
    'GET /livez'() {
      const late = heartbeats.lateMs();
      return isLive(late)
        ? plain(200, 'live\n')
        : plain(503, `the heartbeat scheduler is ${Math.round(late / 1000)} s late\n`);
    },
  };
}

/** Requests that come together get one answer: many could take longer than the heart waits for a sign of life. */
function oncePerTurn(route: () => Reply): Route {
  let shared: Reply | undefined;
  return () => {
    if (shared === undefined) setImmediate(() => (shared = undefined));
    return (shared ??= route());
  };
}

/** Whether a heartbeat scheduler that is late by so many ms still does its work. */
export function isLive(schedulerLateMs: number): boolean {
  return schedulerLateMs <= STUCK_MS;
}
