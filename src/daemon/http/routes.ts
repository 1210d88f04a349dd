/** The routes of the two listeners. Probes look at local state only: a sidecar that couples its readiness to somebody else's API takes the app down with it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { json, plain, type Reply, type Routes } from './http-server.ts';
import { isLive, type LifecycleState } from '../lifecycle.ts';
import { LOG_LEVELS, type LogLevel } from '../../config/types/log-levels.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Status } from '../status/status.ts';
import { statusJsonSchema } from '../status/status-schema.ts';
import { statusPageRoutes } from '../status/page/assets.ts';

export interface PublicRouteSources {
  readonly state: () => LifecycleState;
  /** Ms by which the heartbeat scheduler is late with its next wake-up; 0 when it is not. */
  readonly schedulerLateMs: () => number;
  readonly status: () => Status;
  readonly metrics: Metrics;
  /** Bearer token of /metrics; undefined: open. */
  readonly metricsToken: () => string | undefined;
}

export function publicRoutes(sources: PublicRouteSources): Routes {
  return {
    ...statusPageRoutes(),
    'GET /api/status': () => json(200, sources.status()),
    'GET /api/status/schema': () => ({
      ...json(200, statusJsonSchema()),
      type: 'application/schema+json',
    }),
    async 'GET /metrics'({ headers }) {
      const token = sources.metricsToken();
      if (token !== undefined && !bearerMatches(headers.authorization, token)) {
        return { ...plain(401, 'a Bearer token is needed\n'), headers: { 'www-authenticate': 'Bearer' } };
      }
      const { bytes, release } = await sources.metrics.exposition();
      return { status: 200, type: sources.metrics.contentType, body: bytes, onceSent: release };
    },
    'GET /startupz': () =>
      sources.state() === 'starting' ? plain(503, 'starting\n') : plain(200, 'started\n'),
    'GET /readyz': () =>
      sources.state() === 'running' ? plain(200, 'ready\n') : plain(503, `${sources.state()}\n`),
    'GET /livez'() {
      const late = sources.schedulerLateMs();
      return isLive(late)
        ? plain(200, 'live\n')
        : plain(503, `the heartbeat scheduler is ${Math.round(late / 1000)} s late\n`);
    },
  };
}

/** Hashed first, so that the comparison takes the same time whatever the lengths. */
function bearerMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(sha256(given), sha256(token));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export interface AdminRouteSources {
  readonly reload: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  readonly quit: () => void;
  readonly setLogLevel: (level: LogLevel) => void;
  readonly config: () => Record<string, unknown>;
}

export function adminRoutes(sources: AdminRouteSources): Routes {
  return {
    async 'POST /-/reload'() {
      const { ok, problems } = await sources.reload();
      return json(ok ? 200 : 400, { reloaded: ok, problems });
    },
    'POST /-/quit'() {
      sources.quit();
      return json(202, { quitting: true });
    },
    'PUT /-/log-level': ({ body }) => changeLogLevel(body.trim(), sources.setLogLevel),
    'GET /-/config': () => json(200, sources.config()),
  };
}

function changeLogLevel(wanted: string, setLogLevel: (level: LogLevel) => void): Reply {
  const level = LOG_LEVELS.find((known) => known === wanted);
  if (level === undefined) {
    return json(400, {
      error: 'bad_request',
      msg: `level: got ${JSON.stringify(wanted.slice(0, 40))}; allowed: ${LOG_LEVELS.join(', ')}`,
    });
  }
  setLogLevel(level);
  return json(200, { level });
}
