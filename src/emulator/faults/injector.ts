/** The faults in force: adding and clearing them, requests that hang, and the listener that refuses. */
import type { ScheduledClock } from '../clock.ts';
import {
  faultSchema,
  isActive,
  selectFaults,
  type Fault,
  type FaultInput,
  type FaultRecord,
  type Strikes,
  type Subject,
} from './faults.ts';
import type { Random } from '../random.ts';

/** A fault as it was given, with what has become of it. */
export type FaultView = Fault & {
  readonly faultId: string;
  /** Its time has begun and not ended. */
  readonly active: boolean;
  readonly matched: number;
  readonly struck: number;
};

export interface FaultHandle extends AsyncDisposable {
  readonly faultId: string;
  /** Requests that fitted, and those that it struck, so far. */
  readonly matched: number;
  readonly struck: number;
  clear(): Promise<void>;
}

export interface Faults {
  /**
   * Puts a fault in force; resolves when it is (a refused listener is closed by then).
   * @throws z.ZodError, or an Error for a key that does not exist
   */
  add(fault: FaultInput): Promise<FaultHandle>;
  /** Lifts one fault, or all: what hangs is answered, what refused listens again by then. */
  clear(faultId?: string): Promise<void>;
  list(): FaultView[];
}

export interface FaultInjector extends Faults {
  /** Which faults strike a request; undefined when there are none at all. */
  strike(subject: Subject): Strikes | undefined;
  /** Resolves when the fault is lifted. */
  lifted(faultId: string): Promise<void>;
}

export interface FaultInjectorParts {
  readonly clock: ScheduledClock;
  readonly random: Random;
  /** Name of a key by its name or value; undefined for one that does not exist. */
  readonly keyName: (key: string) => string | undefined;
  /** Opens or closes the listener. */
  readonly listen: (open: boolean) => Promise<void>;
}

export function createFaultInjector({ clock, random, keyName, listen }: FaultInjectorParts): FaultInjector {
  const records = new Map<string, FaultRecord>();
  const waiting = new Map<string, (() => void)[]>();
  const timers = new Map<string, (() => void)[]>();
  let lastId = 0;

  function release(faultId: string): void {
    for (const resume of waiting.get(faultId) ?? []) resume();
    waiting.delete(faultId);
  }

  /** The listener is closed while any fault refuses. */
  function syncListener(): Promise<void> {
    const nowMs = clock.now();
    const refused = [...records.values()].some(
      (record) => record.fault.kind === 'refused' && isActive(record, nowMs),
    );
    return listen(!refused);
  }

  async function add(input: FaultInput): Promise<FaultHandle> {
    const fault = withKeyName(faultSchema.parse(input));
    lastId += 1;
    const faultId = `fault-${lastId}`;
    const startsAtMs = clock.now() + fault.startInMs;
    const endsAtMs = startsAtMs + (fault.forMs ?? Infinity);
    const record: FaultRecord = { id: faultId, fault, startsAtMs, endsAtMs, matched: 0, struck: 0 };
    records.set(faultId, record);
    const refuses = fault.kind === 'refused';
    const cancels: (() => void)[] = [];
    if (refuses && fault.startInMs > 0) cancels.push(clock.schedule(startsAtMs, syncListener));
    if (endsAtMs < Infinity && (refuses || fault.kind === 'hang')) {
      cancels.push(
        clock.schedule(endsAtMs, () => {
          release(faultId);
          return refuses ? syncListener() : undefined;
        }),
      );
    }
    timers.set(faultId, cancels);
    if (refuses && fault.startInMs === 0) await syncListener();
    return {
      faultId,
      get matched() {
        return record.matched;
      },
      get struck() {
        return record.struck;
      },
      clear: () => clear(faultId),
      [Symbol.asyncDispose]: () => clear(faultId),
    };
  }

  /** Kept by name: a list of faults must not show the value of a key. */
  function withKeyName(fault: Fault): Fault {
    if (fault.kind === 'refused' || fault.key === undefined) return fault;
    const name = keyName(fault.key);
    if (name === undefined) throw new Error('key: no API key with this name or value');
    return { ...fault, key: name };
  }

  async function clear(faultId?: string): Promise<void> {
    for (const id of faultId === undefined ? [...records.keys()] : [faultId]) {
      for (const cancel of timers.get(id) ?? []) cancel();
      timers.delete(id);
      records.delete(id);
      release(id);
    }
    await syncListener();
  }

  return {
    add,
    clear,
    list() {
      const nowMs = clock.now();
      return [...records.values()].map((record) => {
        const { id, fault, matched, struck } = record;
        return Object.assign({}, fault, { faultId: id, active: isActive(record, nowMs), matched, struck });
      });
    },
    strike(subject) {
      if (records.size === 0) return undefined;
      return selectFaults([...records.values()], subject, clock.now(), random);
    },
    lifted(faultId) {
      const record = records.get(faultId);
      // It may have been lifted between the request's arrival and its coming here.
      if (!record || !isActive(record, clock.now())) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.set(faultId, [...(waiting.get(faultId) ?? []), resolve]);
      });
    },
  };
}
