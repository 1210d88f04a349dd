/** The faults in force: adding and clearing them, requests that hang, and the listener that refuses. */
import type { ScheduledClock } from '../clock.ts';
import type { Random } from '../random.ts';
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

/** A fault as it was given, with what has become of it. */
export type FaultView = Fault & {
  readonly faultId: string;
  /** Its time has begun and not ended. */
  readonly active: boolean;
  readonly matched: number;
  readonly struck: number;
};

/** A fault that was added, until it is cleared. */
export interface FaultHandle extends AsyncDisposable {
  readonly faultId: string;
  /** Requests that fitted, and those that it struck, so far. */
  readonly matched: number;
  readonly struck: number;
  clear(): Promise<void>;
}

interface FaultInjectorParts {
  readonly clock: ScheduledClock;
  readonly random: Random;
  /** Name of a key by its name or value; undefined for one that does not exist. */
  readonly keyName: (key: string) => string | undefined;
  /** Opens or closes the listener. */
  readonly listen: (open: boolean) => Promise<void>;
}

/** What a test does; the server alone asks which faults strike. */
export type Faults = Omit<FaultInjector, 'strike' | 'lifted'>;

export class FaultInjector {
  readonly #parts: FaultInjectorParts;
  readonly #records = new Map<string, FaultRecord>();
  /** Fault → what lets go of the requests that hang on it. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Fault → what cancels its begin and its end. */
  readonly #timers = new Map<string, (() => void)[]>();
  #lastId = 0;

  constructor(parts: FaultInjectorParts) {
    this.#parts = parts;
  }

  /**
   * Puts a fault in force; resolves when it is (a refused listener is closed by then).
   * @throws z.ZodError, or an Error for a key that does not exist
   */
  async add(input: FaultInput): Promise<FaultHandle> {
    const fault = this.#withKeyName(faultSchema.parse(input));
    this.#lastId += 1;
    const faultId = `fault-${this.#lastId}`;
    const startsAtMs = this.#parts.clock.now() + fault.startInMs;
    const endsAtMs = startsAtMs + (fault.forMs ?? Infinity);
    const record: FaultRecord = { id: faultId, fault, startsAtMs, endsAtMs, matched: 0, struck: 0 };
    this.#records.set(faultId, record);
    this.#schedule(record);
    if (fault.kind === 'refused' && fault.startInMs === 0) await this.#syncListener();
    const clear = () => this.clear(faultId);
    return {
      faultId,
      get matched() {
        return record.matched;
      },
      get struck() {
        return record.struck;
      },
      clear,
      [Symbol.asyncDispose]: clear,
    };
  }

  /** Lifts one fault, or all: what hangs is answered, what refused listens again by then. */
  async clear(faultId?: string): Promise<void> {
    for (const id of faultId === undefined ? [...this.#records.keys()] : [faultId]) {
      for (const cancel of this.#timers.get(id) ?? []) cancel();
      this.#timers.delete(id);
      this.#records.delete(id);
      this.#release(id);
    }
    await this.#syncListener();
  }

  list(): FaultView[] {
    const nowMs = this.#parts.clock.now();
    return [...this.#records.values()].map((record) => {
      const { id, fault, matched, struck } = record;
      return Object.assign({}, fault, { faultId: id, active: isActive(record, nowMs), matched, struck });
    });
  }

  /** Which faults strike a request; undefined when there are none at all. */
  strike(subject: Subject): Strikes | undefined {
    if (this.#records.size === 0) return undefined;
    const { clock, random } = this.#parts;
    return selectFaults([...this.#records.values()], subject, clock.now(), random);
  }

  /** Resolves when the fault is lifted. */
  lifted(faultId: string): Promise<void> {
    const record = this.#records.get(faultId);
    // It may have been lifted between the request's arrival and its coming here.
    if (!record || !isActive(record, this.#parts.clock.now())) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.set(faultId, [...(this.#waiting.get(faultId) ?? []), resolve]);
    });
  }

  /** A listener that refuses has to be closed and opened in time, and what hangs has to be let go. */
  #schedule({ id, fault, startsAtMs, endsAtMs }: FaultRecord): void {
    const { clock } = this.#parts;
    const refuses = fault.kind === 'refused';
    const cancels: (() => void)[] = [];
    if (refuses && fault.startInMs > 0) {
      cancels.push(clock.schedule(startsAtMs, () => this.#syncListener()));
    }
    if (endsAtMs < Infinity && (refuses || fault.kind === 'hang')) {
      const end = () => {
        this.#release(id);
        return refuses ? this.#syncListener() : undefined;
      };
      cancels.push(clock.schedule(endsAtMs, end));
    }
    this.#timers.set(id, cancels);
  }

  #release(faultId: string): void {
    for (const resume of this.#waiting.get(faultId) ?? []) resume();
    this.#waiting.delete(faultId);
  }

  #syncListener(): Promise<void> {
    const { clock, listen } = this.#parts;
    const nowMs = clock.now();
    const refused = [...this.#records.values()].some(
      (record) => record.fault.kind === 'refused' && isActive(record, nowMs),
    );
    return listen(!refused);
  }

  /** Kept by name: a list of faults must not show the value of a key. */
  #withKeyName(fault: Fault): Fault {
    if (fault.kind === 'refused' || fault.key === undefined) return fault;
    const name = this.#parts.keyName(fault.key);
    if (name === undefined) throw new Error('key: no API key with this name or value');
    return { ...fault, key: name };
  }
}
