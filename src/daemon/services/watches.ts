/** The three scheduled watches in the daemon: started from the settings, replaced at a reload. */
import type { Logger } from 'pino';
import { createAccountWatch, type AccountView } from '../../watch/account.ts';
import type { PriceSource } from '../../fleet/service.ts';
import { createInstancesWatch } from '../../watch/instances.ts';
import { startJob, type Job, type JobView } from '../../watch/job.ts';
import { createMaintenanceWatch, type MaintenanceView } from '../../watch/maintenance.ts';
import type { DaemonClient } from './client.ts';
import type { Settings } from '../../config/options.ts';
import type { JobStatus, MaintenanceWindowStatus, Status } from '../status/schema.ts';

/** What the watches are started with. */
const KEYS = ['machines', 'maintenanceSchedule', 'instancesSchedule', 'accountSchedule'] as const;

/** Where the schedule does not list instances often enough for whoever wants their prices, ms. */
const PRICES_EVERY_MS = 600_000;
/** And where a price is lacking. */
const PRICES_AT_MOST_EVERY_MS = 60_000;
type WatchSettings = Pick<Settings, (typeof KEYS)[number]>;

export interface Watches {
  /** Prices of the instances that were listed last. */
  readonly prices: PriceSource;
  status(): Pick<Status, 'instances' | 'maintenance_windows' | 'account' | 'jobs'>;
  /** Replaces the jobs by those of new settings, unless nothing that concerns them changed. */
  apply(settings: WatchSettings): Promise<void>;
  /** Looks at everything now: this replica has just been given the watches. */
  runNow(): void;
  stop(): Promise<void>;
}

/** `mayRun`: whether this replica may look now; without it, it is the only one. */
export function startWatches(
  client: DaemonClient,
  initial: WatchSettings,
  logger: Logger,
  mayRun?: () => boolean,
): Watches {
  const nowSeconds = (): number => Date.now() / 1000;
  const instances = createInstancesWatch(client, ({ id, status }) =>
    logger.warn({ instanceId: id, status }, 'instance will never run: destroy it and try again'),
  );
  const account = createAccountWatch(client, nowSeconds);
  let settings = initial;
  let maintenance = createMaintenanceWatch(client, settings.machines, nowSeconds);
  let jobs = startJobs();

  function startJobs(): Job[] {
    const start = (name: string, schedule: string, run: (signal: AbortSignal) => Promise<void>): Job =>
      startJob({
        name,
        schedule,
        run,
        now: Date.now,
        mayRun,
        onFailure: (error) => logger.warn({ job: name, err: error }, 'job failed; it runs again on schedule'),
      });
    return [
      start('maintenance', settings.machines.length > 0 ? settings.maintenanceSchedule : 'off', (signal) =>
        maintenance.run(signal),
      ),
      start('instances', settings.instancesSchedule, (signal) => instances.run(signal)),
      start('account', settings.accountSchedule, (signal) => account.run(signal)),
    ];
  }

  async function stop(): Promise<void> {
    await Promise.all(jobs.map((job) => job.stop()));
  }

  /** When the fleet made the instances be listed last, or a list was last there, Unix ms. */
  let pricedAtMs = -Infinity;
  function refreshPrices(isLacking: boolean): void {
    const listedAtMs = Math.max(pricedAtMs, instancesJob().view().lastSuccessAt ?? -Infinity);
    const leastMs = isLacking ? PRICES_AT_MOST_EVERY_MS : PRICES_EVERY_MS;
    if (Date.now() - listedAtMs < leastMs) return;
    pricedAtMs = Date.now();
    void instancesJob().runNow();
  }
  function instancesJob(): Job {
    const found = jobs.find((job) => job.view().name === 'instances');
    if (!found) throw new Error('there is no job that lists instances');
    return found;
  }

  return {
    prices: { known: () => instances.prices(), refresh: refreshPrices },
    status() {
      const seen = account.view();
      return {
        instances: Object.fromEntries(instances.view()),
        maintenance_windows: maintenance.view().map((window) => windowStatus(window)),
        account: seen ? accountStatus(seen) : null,
        jobs: jobs.map((job) => jobStatus(job.view())),
      };
    },
    runNow() {
      for (const job of jobs) if (job.view().schedule !== 'off') void job.runNow();
    },
    async apply(next) {
      if (isSame(next, settings)) return;
      await stop();
      settings = next;
      maintenance = createMaintenanceWatch(client, settings.machines, nowSeconds);
      jobs = startJobs();
    },
    stop,
  };
}

function isSame(a: WatchSettings, b: WatchSettings): boolean {
  return KEYS.every((key) => String(a[key]) === String(b[key]));
}

function windowStatus({ machineId, category, startsAt, endsAt }: MaintenanceView): MaintenanceWindowStatus {
  return { machine_id: machineId, category, starts_at: startsAt, ends_at: endsAt ?? null };
}

function accountStatus(account: AccountView): NonNullable<Status['account']> {
  return {
    tfa_enabled: account.tfaEnabled,
    tfa_status: account.tfaStatus ?? null,
    backup_codes_remaining: account.backupCodesRemaining ?? null,
    locked_methods: account.lockedMethods,
  };
}

function jobStatus({ name, schedule, runs, failures, missed, lastSuccessAt, lastError }: JobView): JobStatus {
  return {
    job: name,
    schedule,
    runs,
    failures,
    missed,
    last_success_at: lastSuccessAt === undefined ? null : lastSuccessAt / 1000,
    last_error: lastError ?? null,
  };
}
