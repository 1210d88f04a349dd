/**
 * Steering of the emulator's endpoint over HTTP, with its real history and its real state on disk or in Redis, and time that
 * passes by the minute: what was seen in a minute is recorded, then steering looks.
 */
import { createPartialClient } from '../../src/client/partial-client.ts';
import { endpointGroupOperations } from '../../src/contract/operations/serverless/endpoint-groups.ts';
import { startSteering } from '../../src/daemon/services/steering.ts';
import type { Emulator } from '../../src/emulator/index.ts';
import { numericParameters } from '../../src/fleet/discovery/parameters.ts';
import { History } from '../../src/fleet/history/history.ts';
import type { HistoryStore } from '../../src/fleet/history/store.ts';
import type { FleetNotice } from '../../src/fleet/notices.ts';
import { LOOK_EVERY_MS, type Steering } from '../../src/fleet/steering/steering.ts';
import type { FleetEvent } from '../../src/fleet/view.ts';
import type { BoundsByEndpoint } from '../../src/scaling/autotune/bounds.ts';
import type { Change, Some } from '../../src/scaling/autotune/state.ts';
import { VirtualClock } from './log-time.ts';
import { adviceOf } from './steering.ts';

export const ENDPOINT = 31;
export const BOUNDS: BoundsByEndpoint = { chat: { cold_workers: [0, 10] } };

/** Waits with each minute until steering has looked; of several replicas, until all have. */
export class MinuteClock extends VirtualClock {
  /** By what ends them. */
  readonly #replicas = new Set<AbortSignal>();
  readonly #waiting = new Set<AbortSignal>();
  #changed: () => void = () => {};

  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    const slept = super.sleep(ms, signal);
    if (ms !== LOOK_EVERY_MS) return slept;
    this.#replicas.add(signal);
    this.#waiting.add(signal);
    this.#changed();
    return slept.finally(() => {
      this.#waiting.delete(signal);
      if (signal.aborted) this.#replicas.delete(signal);
      this.#changed();
    });
  }

  /** Until steering has looked at the minute that ends. */
  async minute(): Promise<void> {
    await this.#allWait();
    await this.advance(LOOK_EVERY_MS);
    await this.#allWait();
  }

  /** Until all that have begun wait, and these are so many at least. */
  async #allWait(least = 1): Promise<void> {
    while (this.#waiting.size < Math.max(least, this.#replicas.size))
      await new Promise<void>((resolve) => (this.#changed = resolve));
  }

  /** Until what is started with it waits for its first minute. */
  async begun<Of>(start: () => Promise<Of>): Promise<Of> {
    await this.#allWait(0);
    const before = this.#replicas.size;
    const started = await start();
    await this.#allWait(before + 1);
    return started;
  }
}

export interface SteeredOptions {
  readonly emulator: Emulator;
  readonly clock: MinuteClock;
  readonly store: HistoryStore;
  readonly mayAct?: () => boolean;
  /** Runs before the request that changes parameters is sent. */
  readonly beforeSend?: (values: Some, journal: readonly Change[]) => Promise<void> | void;
  /** Runs while steering waits for its journal. */
  readonly whileStoring?: () => void;
  /** What advice asks for; none where nothing is to move. */
  readonly best?: Some | undefined;
}

export interface SteeredEndpoint extends AsyncDisposable {
  readonly steering: Steering;
  readonly history: History;
  readonly notices: readonly FleetNotice[];
  readonly events: readonly FleetEvent[];
  /** Minutes in which so much was asked of 200 units/s; undefined: without a sample. */
  minutes(count: number, load?: number): Promise<void>;
  journal(): readonly Change[];
  /** The process ends in the midst of it: nothing is stored any more. */
  crash(): Promise<void>;
}

export async function steerEndpoint(options: SteeredOptions): Promise<SteeredEndpoint> {
  const { emulator, clock, store, mayAct = () => true, beforeSend, whileStoring, best } = options;
  const notices: FleetNotice[] = [];
  const events: FleetEvent[] = [];
  const history = new History({ store, clock, lives: () => [], onTrouble() {}, onStored() {} });
  await history.open();
  const client = createPartialClient(endpointGroupOperations, {
    baseUrl: emulator.url,
    apiKey: () => emulator.apiKey,
  });
  const { update } = client.endpointGroups;
  /** As of the last list: of what an hour costs, they are what changes. */
  let coldWorkers = 5;
  const starting: Parameters<typeof startSteering>[0] = {
    settings: { autotune: 'apply', autotuneBounds: BOUNDS },
    client: {
      endpointGroups: {
        async update(input, calls) {
          const { id: _, ...values } = input;
          await beforeSend?.(values as Some, await history.journal('chat', 100));
          return update(input, calls);
        },
      },
    },
    service: {
      async endpoints(signal) {
        const { results } = await client.endpointGroups.list({}, { signal, retry: false });
        const group = results.find(({ id }) => id === ENDPOINT);
        coldWorkers = group ? (numericParameters(group)['cold_workers'] ?? coldWorkers) : coldWorkers;
        return { endpoints: results, unreadable: 0 };
      },
    },
    watch: {
      isKept: history.kind !== 'memory',
      watched: () => [{ label: 'chat', id: ENDPOINT }],
      isListed: () => true,
      storedSteering: () => history.steering,
      isSteeringCurrent: (...args) => history.isSteeringCurrent(...args),
      recordSteering(...args) {
        setImmediate(() => whileStoring?.());
        return history.recordSteering(...args);
      },
      journal: (...args) => history.journal(...args),
      history: (query) => history.query(query),
      workerPerformance: () => 100,
      lookAgain() {},
    },
    advise:
      best &&
      ((question) => Promise.resolve(adviceOf({ atMs: question.nowMs, today: question.parameters, best }))),
    mayAct,
    notice: (notice) => notices.push(notice),
    onEvent: (event) => events.push(event),
    clock,
  };
  const steering = await clock.begun(() => startSteering(starting));
  return {
    steering,
    history,
    notices,
    events,
    async minutes(count, load) {
      for (let minute = 0; minute < count; minute += 1) {
        if (load !== undefined) history.record(lookAt(clock.now(), load, 0.4 * coldWorkers));
        await clock.minute();
      }
    },
    journal: () => steering.view('chat')?.journal ?? [],
    async crash() {
      store.close();
      await steering.stop();
    },
    async [Symbol.asyncDispose]() {
      await steering.stop();
      await history.stop();
      await client[Symbol.asyncDispose]();
    },
  };
}

function lookAt(atMs: number, load: number, cost: number) {
  const measures = {
    load,
    load_average: load,
    capacity_hot: 200,
    capacity_cold: 0,
    requests_working: 1,
    cost_per_hour: cost,
  };
  return {
    label: 'chat',
    sample: { atMs, measures, workers: { idle: 2 } },
    changed: [],
    gone: [],
    events: [],
  };
}

/** Another than steering sets them. */
export async function setByHand(emulator: Emulator, values: Some): Promise<void> {
  await fetch(`${emulator.url}/api/v0/endptjobs/${ENDPOINT}/`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(values),
  });
}

export async function parametersOf(emulator: Emulator): Promise<Readonly<Record<string, number>>> {
  const answer = await fetch(`${emulator.url}/api/v0/endptjobs/`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  });
  const { results } = (await answer.json()) as { results: { id: number }[] };
  const row = results.find(({ id }) => id === ENDPOINT);
  return row ? numericParameters(row) : {};
}
