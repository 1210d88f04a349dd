import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import type { Traits } from '../../doctor/learn.ts';
import { ApiError } from '../../client/errors.ts';
import { listCharges } from '../../client/flows/lists.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { isRecord, parseJsonOr } from '../../contract/is-record.ts';
import type { WorkerGroup } from '../../contract/operations/serverless/worker-group-list.ts';
import type { FleetService, FleetWatch, PriceCeilings, PriceSource } from '../../fleet/watch.ts';
import type { Fleet, FleetView } from '../../fleet/view.ts';
import type { FleetEvent } from '../../fleet/workers/lives.ts';
import type { Clock } from '../../time/clock.ts';
import { rowsLeftOut } from '../../wire/reading.ts';
import type { DaemonClient } from './client.ts';
import { noticesTo } from './notices.ts';

type WatchedSettings = Pick<Settings, 'endpoints' | 'fleetInterval' | 'endpointGroups' | 'stateDir'>;

export interface FleetOptions {
  readonly client: Pick<DaemonClient, 'endpointGroups' | 'workergroups' | 'serverless' | 'charges'>;
  readonly settings: WatchedSettings;
  readonly logger: Logger;
  readonly prices: PriceSource;
  readonly onEvent: (event: FleetEvent) => void;
  readonly onTraits: (traits: Traits) => void;
  readonly clock: Clock;
  /** One of several replicas watches, and keeps the history. */
  readonly isReplica: boolean;
}

/** Longer than a lease. A frozen Redis may grant a lease late, after the replica has given up waiting for it. */
const STAND_DOWN_AFTER_MS = 8_000;
/** A slower poll is a missing sample. */
const LOOK_TIMEOUT_MS = 15_000;

/** Loads nothing of the watch if no endpoint is named. */
export function startFleet(options: FleetOptions) {
  const { logger, isReplica } = options;
  let settings = options.settings;
  let isOurs = !isReplica;
  /** Monotonic ms; undefined: no other replica watches. */
  let othersSince: number | undefined;
  let isStopping = false;
  let watch: FleetWatch | undefined;
  let turn: Promise<void> = Promise.resolve();

  /** One change after the other, by the settings and the role of that moment. */
  function adjust(): Promise<void> {
    turn = turn.then(change).catch((error: unknown) => {
      logger.error({ err: error }, 'the watch of endpoints could not be changed');
    });
    return turn;
  }

  async function change(): Promise<void> {
    const isWanted = isOurs && !isStopping && settings.endpoints.length > 0;
    if (isWanted && watch) watch.apply(settings);
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
      ...settings,
      service: fleetService(options),
      directory: settings.stateDir,
      onEvent: options.onEvent,
      onTraits: options.onTraits,
      notice: noticesTo(logger, () => performance.now()),
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
    takeOver(): Promise<void> {
      isOurs = true;
      othersSince = undefined;
      return adjust();
    },
    /** Two replicas that watch do less harm than none, so the last one continues while Redis is down. */
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

const SPEND_TURN = { everyMs: 60_000, need: 'watch' } as const;
const BILL_TURN = { everyMs: 600_000, need: 'watch' } as const;
const LIST_TURN = { everyMs: 300_000, need: 'endpoint' } as const;

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

/** The service's own command line writes `dph` for `dph_total`. */
const PRICE_NAMES = ['dph_total', 'dph'];
const PRICE_IN_TEXT = /\bdph(?:_total)?\s*<=?\s*(\d+(?:\.\d+)?)/;

/** Leaves out endpoints with a group that has no ceiling. */
export function priceCeilings(groups: readonly WorkerGroup[]): PriceCeilings {
  const ceilings = new Map<number, number>();
  for (const { endpoint_id: id, search_query: query } of groups)
    if (typeof id === 'number') ceilings.set(id, Math.max(ceilings.get(id) ?? 0, ceilingIn(query)));
  return new Map([...ceilings].filter(([, ceiling]) => ceiling < Infinity));
}

/** A search is an object, JSON, or text such as `dph_total<=0.5`. */
function ceilingIn(search: unknown): number {
  const query = typeof search === 'string' ? parseJsonOr(search) : search;
  if (typeof query === 'string') return Number(PRICE_IN_TEXT.exec(query)?.[1] ?? Infinity);
  if (!isRecord(query)) return Infinity;
  const bounds = PRICE_NAMES.flatMap((name) => {
    const filter = query[name];
    return isRecord(filter) ? [filter['lte'], filter['lt'], filter['eq']].map(Number) : [];
  });
  return Math.min(Infinity, ...bounds.filter((bound) => bound > 0));
}
