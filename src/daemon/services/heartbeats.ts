import type { Logger } from 'pino';
import type { Grants } from '../../client/gate.ts';
import type { LogLevel } from '../../config/value-types.ts';
import type { DaemonMessage, HeartMessage, Link, Report } from '../../heartbeat/process/link.ts';
import type { Metrics } from '../metrics.ts';
import { deploymentStatus } from '../status/deployment.ts';
import type { DeploymentStatus } from '../status/schema.ts';
import type { ClockSkew } from './client.ts';
import type { ServiceTraits } from './service-traits.ts';

export interface ReloadResult {
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** The heart has not answered in time, and may still apply it. */
  readonly isUnanswered?: boolean;
}

interface HeartbeatsOptions {
  readonly heart: Link<DaemonMessage, HeartMessage>;
  readonly metrics: Pick<Metrics, 'client' | 'schedulingLag' | 'logMessages'>;
  readonly clockSkew: ClockSkew;
  readonly traits: Pick<ServiceTraits, 'see' | 'note'>;
  readonly logger: Logger;
  readonly onReload: () => void;
  readonly onGrants: (grants: Grants) => void;
  readonly onStop: (withinMs: number) => void;
}

export type Heartbeats = ReturnType<typeof receiveHeartbeats>;

/** The heart reports at least this often, and its scheduler ticks more often. */
const REPORT_EVERY_MS = 5_000;
/** For the heart's answer to a reload. */
const RELOAD_PATIENCE_MS = 5_000;

export function receiveHeartbeats(options: HeartbeatsOptions) {
  const { heart, metrics, clockSkew, traits, logger } = options;
  const deployments = new Map<number, DeploymentStatus>();
  let heardAt = Date.now();
  let last: Report | undefined;
  let asked = 0;
  let reloaded: (result: ReloadResult) => void = () => {};

  heart.listen((message) => {
    switch (message.type) {
      case 'report':
        take(message.report);
        return heart.send({ type: 'taken', number: message.report.number });
      case 'grants':
        return options.onGrants(message.grants);
      case 'reload':
        return options.onReload();
      case 'reloaded':
        // A late answer belongs to an earlier reload.
        if (message.number === asked) reloaded(message);
        return;
      case 'stop':
        return options.onStop(message.withinMs);
    }
  });

  function take(report: Report): void {
    heardAt = Date.now();
    last = report;
    for (const id of report.removed) deployments.delete(id);
    for (const snapshot of report.changed) {
      const before = deployments.get(snapshot.deploymentId);
      const after = deploymentStatus(snapshot);
      if (before && isFoundExpired(before, after)) traits.note({ expired_deployment: 'as_unknown' });
      deployments.set(snapshot.deploymentId, after);
    }
    for (const event of report.exchanges) {
      metrics.client.exchange?.(event);
      clockSkew.observe(event.serverDate, event.at);
      traits.see(event);
    }
    for (const ms of report.lags) metrics.schedulingLag(ms);
    for (const [level, count] of Object.entries(report.messages))
      metrics.logMessages(level as LogLevel, count);
    if (report.missed > 0)
      logger.warn({ events: report.missed }, 'heartbeats went on, but events of theirs were not counted');
  }

  return {
    status: () => [...deployments.values()],
    /** How late the heart's scheduler is, as far as is known here. */
    lateMs(): number {
      const silent = Date.now() - heardAt - 2 * REPORT_EVERY_MS;
      const tickedAt = last?.lastTickAt ?? heardAt;
      const stuck = deployments.size === 0 ? 0 : heardAt - tickedAt - REPORT_EVERY_MS;
      return Math.max(0, silent, stuck);
    },
    report: () => last,
    refuseReload: () => heart.send({ type: 'reload-refused' }),
    async reload(): Promise<ReloadResult> {
      const { promise, resolve } = Promise.withResolvers<ReloadResult>();
      reloaded = ({ ok, problems }) => resolve({ ok, problems });
      const problems = ['the heart did not answer in time; it may take the configuration yet'];
      const silent: ReloadResult = { ok: false, isUnanswered: true, problems };
      const timer = setTimeout(() => resolve(silent), RELOAD_PATIENCE_MS);
      asked += 1;
      heart.send({ type: 'reload', number: asked });
      return promise.finally(() => clearTimeout(timer));
    },
  };
}

/** The first 404 came after the TTL had passed. If the text says so, `traits.see` learns that. */
function isFoundExpired(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const isFirst = (before.failures['not-found'] ?? 0) === 0 && (after.failures['not-found'] ?? 0) > 0;
  return isFirst && before.expires_at !== null && before.expires_at < Date.now() / 1000;
}
