import type { Logger } from 'pino';
import { createAccountWatch, createInstancesWatch, createMaintenanceWatch } from '../../watch/account.ts';
import type { PriceSource } from '../../fleet/watch.ts';
import { startJob, type Job, type JobView } from '../../watch/job.ts';
import type { DaemonClient } from './client.ts';
import type { Settings } from '../../config/options.ts';
import type { JobStatus, Status } from '../status/schema.ts';

const KEYS = ['machines', 'maintenanceSchedule', 'instancesSchedule', 'accountSchedule'] as const;

/** If the schedule does not list instances often enough for their prices. */
const PRICES_EVERY_MS = 600_000;
/** If a price is missing. */
const PRICES_AT_MOST_EVERY_MS = 60_000;
type WatchSettings = Pick<Settings, (typeof KEYS)[number]>;

/** `mayRun`: whether this replica has the watches; undefined: it is alone. */
export function startWatches(
  client: DaemonClient,
  initial: WatchSettings,
  logger: Logger,
  mayRun?: () => boolean,
) {
  const nowSeconds = (): number => Date.now() / 1000;
  const instances = createInstancesWatch(client, ({ id, status }) =>
    logger.warn({ instanceId: id, status }, 'instance will never run: destroy it and try again'),
  );
  const account = createAccountWatch(client, nowSeconds);
  let settings = initial;
  let maintenance = createMaintenanceWatch(client, settings.machines, nowSeconds);
  let jobs = startJobs();

  function startJobs() {
    const start = (name: string, schedule: string, watch: Pick<typeof account, 'run'>): Job =>
      startJob({
        name,
        schedule,
        run: (signal) => watch.run(signal),
        now: Date.now,
        mayRun,
        onFailure: (error) => logger.warn({ job: name, err: error }, 'job failed; it runs again on schedule'),
      });
    const { machines, maintenanceSchedule, instancesSchedule, accountSchedule } = settings;
    return {
      maintenance: start('maintenance', machines.length > 0 ? maintenanceSchedule : 'off', maintenance),
      instances: start('instances', instancesSchedule, instances),
      account: start('account', accountSchedule, account),
    };
  }

  async function stop(): Promise<void> {
    await Promise.all(Object.values(jobs).map((job) => job.stop()));
  }

  let pricedAtMs = -Infinity;
  const prices: PriceSource = {
    known: () => instances.prices(),
    listedAtMs: () => jobs.instances.view().lastSuccessAt,
    refresh(isLacking) {
      const listedAtMs = Math.max(pricedAtMs, jobs.instances.view().lastSuccessAt ?? -Infinity);
      const leastMs = isLacking ? PRICES_AT_MOST_EVERY_MS : PRICES_EVERY_MS;
      if (Date.now() - listedAtMs < leastMs) return;
      pricedAtMs = Date.now();
      void jobs.instances.runNow();
    },
  };

  return {
    prices,
    status(): Pick<Status, 'instances' | 'maintenance_windows' | 'account' | 'jobs'> {
      return {
        instances: Object.fromEntries(instances.view()),
        maintenance_windows: maintenance.view(),
        account: account.view() ?? null,
        jobs: Object.values(jobs).map((job) => jobStatus(job.view())),
      };
    },
    runNow(): void {
      for (const job of Object.values(jobs)) if (job.view().schedule !== 'off') void job.runNow();
    },
    async apply(next: WatchSettings): Promise<void> {
      if (KEYS.every((key) => String(next[key]) === String(settings[key]))) return;
      await stop();
      settings = next;
      maintenance = createMaintenanceWatch(client, settings.machines, nowSeconds);
      jobs = startJobs();
    },
    stop,
  };
}

function jobStatus({ name: job, lastSuccessAt, lastError, ...counts }: JobView): JobStatus {
  const last_success_at = lastSuccessAt === undefined ? null : lastSuccessAt / 1000;
  return { job, ...counts, last_success_at, last_error: lastError ?? null };
}
