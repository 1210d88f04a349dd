/** The watch of endpoints in the daemon: started from the settings, changed by a reload, one replica's at a time. */
import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import type { Traits } from '../../doctor/learn.ts';
import { ApiError } from '../../client/errors.ts';
import { listCharges } from '../../client/flows/lists.ts';
import type { FleetService, FleetSettings, FleetWatch, PriceSource } from '../../fleet/watch.ts';
import type { Fleet, FleetView } from '../../fleet/view.ts';
import type { FleetEvent } from '../../fleet/workers/lives.ts';
import type { Clock } from '../../time/clock.ts';
import { rowsLeftOut } from '../../wire/reading.ts';
import type { DaemonClient } from './client.ts';
import { priceCeilings } from './price-ceilings.ts';
import { fleetNoticesTo } from './fleet-notices.ts';

type WatchedSettings = Pick<Settings, 'endpoints' | 'fleetInterval' | 'endpointGroups' | 'stateDir'>;

export interface FleetOptions {
  readonly client: Pick<DaemonClient, 'endpointGroups' | 'workergroups' | 'serverless' | 'charges'>;
  readonly settings: WatchedSettings;
  readonly logger: Logger;
  readonly prices: PriceSource;
  readonly onEvent: (event: FleetEvent) => void;
  readonly onTraits: (traits: Traits) => void;
  readonly clock: Clock;
  /** Whether there may be several: then one watches, and keeps the history. */
  readonly isReplica: boolean;
}

/**
 * Longer than a lease lasts: a Redis that was frozen does at once what it was asked meanwhile, and may give the lease to
 * a replica that does not wait for it any more.
 */
const STAND_DOWN_AFTER_MS = 8_000;
/** A look that takes longer is a missing sample, ms. */
const LOOK_TIMEOUT_MS = 15_000;

/** Where no endpoint is named, nothing of it is even loaded. */
export function startFleet(options: FleetOptions) {
  const { logger, isReplica } = options;
  let settings = options.settings;
  /** Whether this replica watches, if there is anything to watch. */
  let isOurs = !isReplica;
  /** Monotonic ms; undefined: nobody else is said to. */
  let othersSince: number | undefined;
  let isStopping = false;
  let watch: FleetWatch | undefined;
  let turn: Promise<void> = Promise.resolve();

  /** Begins, changes or ends the watch, one change after the other, as the settings and the replicas have it then. */
  function adjust(): Promise<void> {
    turn = turn.then(change).catch((error: unknown) => {
      logger.error({ err: error }, 'the watch of endpoints could not be changed');
    });
    return turn;
  }

  async function change(): Promise<void> {
    const isWanted = isOurs && !isStopping && settings.endpoints.length > 0;
    if (isWanted && watch) watch.apply(fleetSettings(settings));
    else if (isWanted) watch = await begin();
    else if (watch) {
      const ending = watch;
      watch = undefined;
      await ending.stop();
    }
  }

  async function begin(): Promise<FleetWatch> {
    const { FleetWatch: Watch } = await import('../../fleet/watch.ts');
    if (settings.stateDir === undefined)
      logger.info(
        'no PILOTLIGHT_STATE_DIR: the history of endpoints is kept in memory for a day, and ends with the process',
      );
    const begun = new Watch({
      ...fleetSettings(settings),
      service: fleetService(options),
      directory: settings.stateDir,
      onEvent: options.onEvent,
      onTraits: options.onTraits,
      notice: fleetNoticesTo(logger),
      clock: options.clock,
      random: Math.random,
    });
    await begun.start();
    return begun;
  }

  void adjust();
  const fleet: Fleet = {
    view: () => watch?.view() ?? nothingSeen(settings, !isOurs && settings.endpoints.length > 0),
    history: async (query) => (await watch?.history(query)) ?? [],
    spends: async () => (await watch?.spends()) ?? [],
  };
  return {
    ...fleet,
    apply(next: WatchedSettings): Promise<void> {
      settings = { ...next, stateDir: settings.stateDir };
      return adjust();
    },
    /** This replica is the one that watches now. */
    takeOver(): Promise<void> {
      isOurs = true;
      othersSince = undefined;
      return adjust();
    },
    /** While Redis cannot say who watches, the last one goes on: looking twice harms less than not looking. */
    standDown(): Promise<void> {
      othersSince ??= performance.now();
      if (!isOurs || performance.now() - othersSince < STAND_DOWN_AFTER_MS) return turn;
      isOurs = false;
      return adjust();
    },
    stop(): Promise<void> {
      isStopping = true;
      return adjust();
    },
  };
}

function fleetSettings(settings: WatchedSettings): FleetSettings {
  const { endpoints, fleetInterval, endpointGroups } = settings;
  return { wanted: endpoints, intervalMs: fleetInterval, groups: endpointGroups };
}

const SPEND_TURN = { everyMs: 15_000, need: 'watch' } as const;
const BILL_TURN = { everyMs: 600_000, need: 'watch' } as const;
const DAY_SECONDS = 86_400;
const LIST_TURN = { everyMs: 300_000, need: 'endpoint' } as const;

/** One attempt for each look: what is missed stays missed. */
function fleetService({ client, prices, logger }: FleetOptions): FleetService {
  return {
    prices,
    spend: {
      async told(signal) {
        const { endpoints } = await client.serverless.endpointsSpend(
          {},
          { signal, retry: false, turn: SPEND_TURN },
        );
        return new Map(endpoints.map(({ id, hourly_spend: dollars }) => [id, dollars ?? null]));
      },
      async charges(day, signal) {
        const from = Date.parse(day) / 1000;
        const { rows, unreadable } = await listCharges(
          client,
          { from, to: from + DAY_SECONDS - 1 },
          { signal, turn: BILL_TURN },
        );
        return unreadable > 0 ? undefined : rows;
      },
      howRefused(error) {
        if (!(error instanceof ApiError) || error.meaning === 'throttled') return undefined;
        return error.meaning === 'unauthorized' ? 'permission' : 'refused';
      },
    },
    async endpoints(signal) {
      const answer = await client.endpointGroups.list({}, { signal, retry: false, turn: LIST_TURN });
      return { endpoints: answer.results, unreadable: rowsLeftOut(answer) };
    },
    async priceCeilings(signal) {
      try {
        const answer = await client.workergroups.list({}, { signal, retry: false, turn: LIST_TURN });
        return priceCeilings(answer.results);
      } catch (error) {
        logger.debug({ err: error }, 'worker groups were not listed: prices are compared with no filter');
        return new Map();
      }
    },
    async workers(id, everyMs, signal) {
      const turn = { everyMs, need: 'endpoint', who: String(id) } as const;
      const answer = await client.endpointGroups.workers(
        { id },
        { signal, retry: false, timeoutMs: LOOK_TIMEOUT_MS, turn },
      );
      return { workers: answer.workers, unreadable: rowsLeftOut(answer) };
    },
  };
}

function nothingSeen({ stateDir }: WatchedSettings, isElsewhere: boolean): FleetView {
  const history = stateDir === undefined ? 'memory' : 'disk';
  const spend = { endpoints: new Map(), month: undefined, orphans: undefined, unanswered: [] };
  return { endpoints: [], history, historyTrouble: undefined, spend, samples: false, isElsewhere };
}
