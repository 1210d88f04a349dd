import type { Logger } from 'pino';
import { redactedSettings } from '../../config/secrets.ts';
import { LOG_LEVELS } from '../../config/value-types.ts';
import type { DaemonMessage, HeartMessage, Link } from '../../heartbeat/process/link/link.ts';
import type { ReloadResult } from '../services/heartbeats.ts';
import type { CurrentSettings, Reloading } from '../services/reloading.ts';
import { json, type Routes } from './reply.ts';

export interface AdminRouteSources {
  readonly reloading: Pick<Reloading, 'reload'>;
  readonly heart: Pick<Link<DaemonMessage, HeartMessage>, 'send'>;
  readonly logger: Logger;
  readonly current: CurrentSettings;
}

export function adminRoutes({ reloading, heart, logger, current }: AdminRouteSources): Routes {
  return {
    async 'POST /-/reload'() {
      const result = await reloading.reload();
      return json(statusOf(result), { reloaded: result.ok, problems: result.problems });
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

/** 400: nothing has changed. 504: the heart may still apply it. */
function statusOf({ ok, isUnanswered = false }: ReloadResult): number {
  if (isUnanswered) return 504;
  return ok ? 200 : 400;
}
