/** What LISTEN shows, and what the admin routes do. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import { redactedSettings } from '../../config/secrets.ts';
import { LOG_LEVELS } from '../../config/value-types.ts';
import type { Fleet } from '../../fleet/view.ts';
import type { DaemonMessage, HeartMessage, Link } from '../../heartbeat/process/link.ts';
import type { Metrics } from '../metrics.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { Heartbeats } from '../services/heartbeats.ts';
import type { CurrentSettings, Reloading } from '../services/reloading.ts';
import { statusPageRoutes } from '../status/page/assets.ts';
import { statusJsonSchema, type Status } from '../status/schema.ts';
import { billRoutes } from './bill.ts';
import { fleetRoutes } from './fleet.ts';
import { json, plain, schemaRoute, type Reply, type Route, type Routes } from './reply.ts';

interface PublicRouteSources {
  readonly status: () => Status;
  readonly fleet: Fleet;
  readonly lifecycle: Pick<Lifecycle, 'state'>;
  readonly heartbeats: Pick<Heartbeats, 'lateMs'>;
  readonly metrics: Pick<Metrics, 'exposition' | 'contentType'>;
  /** Everything is open without a metrics token. */
  readonly current: { readonly settings: Pick<Settings, 'metricsToken'> };
}

/** /livez fails above this. */
const STUCK_MS = 10_000;

/** Probes look at local state only, and need no token: a sidecar must not take the app down with an API. */
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

const UNAUTHORIZED: Reply = {
  ...plain(401, 'a Bearer token is needed: PILOTLIGHT_METRICS_TOKEN\n'),
  headers: { 'www-authenticate': 'Bearer' },
};

/** A reload may change the token. `refusals`: what a route answers beside 401. */
function behindToken(
  routes: Routes,
  token: () => string | undefined,
  refusals: Readonly<Record<string, Reply>> = {},
): Routes {
  return Object.fromEntries(
    Object.entries(routes).map(([key, route]): [string, Route] => [
      key,
      (request) => {
        const wanted = token();
        if (wanted === undefined || bearerMatches(request.headers.authorization, wanted))
          return route(request);
        return { ...UNAUTHORIZED, ...refusals[key], status: UNAUTHORIZED.status };
      },
    ]),
  );
}

/** The hashes are compared, so that the time does not depend on the lengths. */
function bearerMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

interface AdminRouteSources {
  readonly reloading: Pick<Reloading, 'reload'>;
  readonly heart: Pick<Link<DaemonMessage, HeartMessage>, 'send'>;
  readonly logger: Logger;
  readonly current: CurrentSettings;
}

export function adminRoutes({ reloading, heart, logger, current }: AdminRouteSources): Routes {
  return {
    async 'POST /-/reload'() {
      const result = await reloading.reload();
      // 400: nothing has changed. 504: the heart may still apply it.
      const refusal = result.isUnanswered ? 504 : 400;
      return json(result.ok ? 200 : refusal, { reloaded: result.ok, problems: result.problems });
    },
    'POST /-/quit'() {
      heart.send({ type: 'quit' });
      return json(202, { quitting: true });
    },
    /** For daemon and heart, until a reload changes the setting. */
    'PUT /-/log-level'({ body }) {
      const wanted = body.trim();
      const level = LOG_LEVELS.find((known) => known === wanted);
      if (level === undefined) {
        return json(400, {
          error: 'bad_request',
          msg: `level: got ${JSON.stringify(wanted.slice(0, 40))}; allowed: ${LOG_LEVELS.join(', ')}`,
        });
      }
      logger.level = level;
      heart.send({ type: 'log-level', level });
      // Not `level`, which is the line's own.
      logger.info({ to: level }, 'log level changed');
      return json(200, { level });
    },
    'GET /-/config': () => json(200, redactedSettings(current.settings)),
  };
}
