/** Runs the heartbeats of any number of deployments. The engine decides about each; the queue says who is next. */
import { RateLimiter, type Departure, type RateAnswer } from '../../client/rate-limiter.ts';
import {
  isInTime,
  wasJustReached,
  startHeartbeat,
  type Event,
  type Heartbeat,
  type HeartbeatState,
  type Notice,
  type AttemptOutcome,
  type Send,
  type Instant,
} from '../engine/state.ts';
import { step as engineStep, type StepFunction } from '../engine/engine.ts';
import { timingFor, MIN_SPACING, type TimingChoice, type Timing } from '../engine/formulas.ts';
import {
  emptyStats,
  enter,
  snapshotOf,
  type DeploymentSnapshot,
  type SharedLimit,
  type Stats,
} from '../view/snapshot.ts';
import { Calls, HEARTBEAT, Queue, type Call } from './queue.ts';
import { KeySource, type Key, type CancelTimer, type Ports } from './ports.ts';

export interface DriverOptions {
  readonly ports: Ports;
  readonly key: string;
  readonly concurrency?: number;
  /** Open attempts, overdue ones included. Default 512. If all are, an overdue one gives way. */
  readonly openLimit?: number;
  readonly step?: StepFunction;
  readonly limiter?: RateLimiter | undefined;
}

export interface DeploymentChoice extends TimingChoice {
  readonly id: number;
}

interface Entry {
  beat: Heartbeat;
  readonly stats: Stats;
  readonly calls: Map<number, { readonly call: Call; readonly departure: Departure }>;
}

interface FinalBeat {
  readonly awaited: Set<number>;
  readonly missed: Set<number>;
  readonly end: () => void;
}

/** A clock step is noticed within this, ms, or within q if that is shorter. */
const LONGEST_SLEEP = 1000;
const NOTABLE_DRIFT = 50;

export class HeartbeatDriver {
  readonly #ports: Ports;
  readonly #step: StepFunction;
  readonly #keys: KeySource;
  readonly #calls: Calls;
  readonly #concurrency: number;
  readonly #deployments = new Map<number, Entry>();
  readonly #queue: Queue<Entry>;
  readonly #stagger = new Stagger();
  readonly #limiter: RateLimiter;
  /** The listener hears last, so that it holds up no request. */
  readonly #notices: (readonly [id: number, notice: Notice])[] = [];
  #final: FinalBeat | undefined;
  /** Of the clocks, when all deployments were last told, ms. */
  #offset = 0;
  #longestSleep = LONGEST_SLEEP;
  readonly #alarm: Alarm;
  #withheld = false;
  #stopped = false;

  constructor(options: DriverOptions) {
    this.#ports = options.ports;
    this.#step = options.step ?? engineStep;
    this.#limiter = options.limiter ?? new RateLimiter({ random: options.ports.random });
    this.#calls = new Calls(options.ports);
    const { concurrency = 256, openLimit = 512 } = options;
    this.#concurrency = concurrency;
    this.#queue = new Queue(this.#limiter, this.#calls, { concurrency, openLimit });
    this.#keys = new KeySource(options.key, options.ports, (key) => this.#takeKey(key));
    this.#alarm = new Alarm(options.ports, () => this.#pump());
  }

  add(choice: DeploymentChoice): void {
    if (this.#stopped) return;
    const timing = timingFor(choice);
    this.#longestSleep = Math.min(this.#longestSleep, timing.tick);
    const known = this.#deployments.get(choice.id);
    if (known === undefined) this.#begin(choice.id, timing);
    else {
      this.#queue.remove(known.beat.timing);
      this.#queue.add(timing);
      this.#tell(known, { type: 'timing', timing }, this.#now());
    }
    this.#arm();
  }

  remove(id: number): void {
    const entry = this.#deployments.get(id);
    if (entry === undefined) return;
    this.#tell(entry, { type: 'stop' }, this.#now());
    this.#deployments.delete(id);
    this.#queue.remove(entry.beat.timing);
    this.#pump();
  }

  beatNow(chosen: (state: HeartbeatState, id: number) => boolean): void {
    for (const entry of this.#deployments.values()) {
      const { state, id } = entry.beat;
      if (chosen(state, id)) this.#tell(entry, { type: 'beat-now' }, this.#now());
    }
    this.#pump();
  }

  /** The app is unhealthy: no heartbeat is sent until resume(), for new deployments neither. */
  withhold(): void {
    this.#withheld = true;
    for (const entry of this.#deployments.values()) this.#tell(entry, { type: 'withhold' }, this.#now());
    this.#pump();
  }

  /** Least remaining time first. Returns the ids for which an attempt that takes A is too late. */
  resume(): number[] {
    this.#withheld = false;
    const now = this.#now();
    const withheld = [...this.#deployments.values()].filter(({ beat }) => beat.withheld);
    for (const entry of withheld) this.#tell(entry, { type: 'resume' }, now);
    this.#pump();
    return withheld.filter(({ beat }) => !isInTime(beat, now.mono)).map(({ beat }) => beat.id);
  }

  async readKey(): Promise<void> {
    const reading = this.#keys.readAnew();
    this.#calls.track(reading);
    await reading;
  }

  snapshotOf(id: number): DeploymentSnapshot | undefined {
    const entry = this.#deployments.get(id);
    return entry && snapshotOf(entry.beat, entry.stats, this.#now());
  }

  sharedLimit(): SharedLimit | undefined {
    return this.#queue.sharedLimit();
  }

  leavesAt(): number {
    return this.#queue.leavesAt();
  }

  finalBeatMs(): number {
    const live = this.#unreached();
    const each = live.map(({ beat }) => beat.timing.attemptTimeout + MIN_SPACING);
    const batches = Math.ceil(live.length / this.#concurrency);
    return (
      each.reduce((most, ms) => Math.max(most, ms), 0) * batches +
      live.length * this.#limiter.spacing(HEARTBEAT)
    );
  }

  /** Gives the next process the whole TTL. Resolves with the ids that were not reached. Then comes stop(). */
  async finalBeat(limitMs = Infinity): Promise<number[]> {
    const live = this.#unreached();
    const ids = live.map(({ beat }) => beat.id);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const limit = Math.min(limitMs, this.finalBeatMs());
    const final = { awaited: new Set(ids), missed: new Set(ids), end };
    this.#final = final;
    this.#queue.draining = true;
    for (const entry of live) this.#tell(entry, { type: 'beat-now' }, this.#now());
    this.#pump();
    const cancel = this.#ports.setTimer(limit, end);
    if (final.awaited.size > 0) await over;
    cancel();
    return [...final.missed];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const entry of this.#deployments.values()) this.#tell(entry, { type: 'stop' }, this.#now());
    this.#keys.stop();
    this.#arm();
    this.#deliver();
    await this.#calls.drained();
  }

  #now(): Instant {
    const { clock } = this.#ports;
    return { mono: clock.mono(), wall: clock.wall() };
  }

  #unreached(): Entry[] {
    const { mono } = this.#now();
    return [...this.#deployments.values()].filter(
      ({ beat }) => !beat.withheld && !beat.gone && !wasJustReached(beat, mono),
    );
  }

  #begin(id: number, timing: Heartbeat['timing']): void {
    const now = this.#now();
    const { spread, dueAt } = this.#stagger.join(now.mono, timing);
    const { generation: keyGeneration } = this.#keys.key;
    const beat = startHeartbeat({ id, timing, spread, dueAt, keyGeneration }, now);
    const entry: Entry = { beat, stats: emptyStats(), calls: new Map() };
    this.#deployments.set(id, entry);
    this.#queue.add(timing);
    this.#queue.place(entry, now.mono);
    if (this.#withheld) this.#tell(entry, { type: 'withhold' }, now);
  }

  #tell(entry: Entry, event: Event, now: Instant): void {
    const { beat, actions } = this.#step(entry.beat, event, now, this.#ports.random);
    entry.beat = beat;
    for (const action of actions) {
      if (action.type === 'send') this.#send(entry, action);
      else if (action.type === 'abort') this.#abort(entry, action.attempt);
      else if (action.type === 'read-key') this.#calls.track(this.#keys.read());
      else this.#note(entry, action.notice, now);
    }
    this.#queue.place(entry, now.mono);
  }

  #send(entry: Entry, { attempt, timeoutMs, fresh }: Send): void {
    const { id: deploymentId, lastSentAt } = entry.beat;
    const key = this.#keys.key.value;
    const departure = this.#limiter.sent(HEARTBEAT, lastSentAt);
    const call = this.#calls.start(
      { deploymentId, key, timeoutMs, fresh },
      {
        ended: (outcome) => {
          const now = this.#now();
          entry.calls.delete(attempt);
          const answer = rateAnswerOf(outcome);
          if (answer === undefined) this.#limiter.lost(departure);
          else this.#limiter.answered(departure, answer, now.mono);
          const isKeyLimited = this.#limiter.isKeyLimited(now.mono);
          const known = outcome.type === 'throttled' ? { ...outcome, isKeyLimited } : outcome;
          this.#tell(entry, { type: 'ended', attempt, outcome: known }, now);
          this.#pump();
        },
        evicted: () => this.#tell(entry, { type: 'evict', attempt }, this.#now()),
      },
    );
    entry.calls.set(attempt, { call, departure });
  }

  #abort(entry: Entry, attempt: number): void {
    const under = entry.calls.get(attempt);
    if (under === undefined) return;
    entry.calls.delete(attempt);
    this.#limiter.lost(under.departure);
    this.#calls.abort(under.call);
  }

  #note(entry: Entry, notice: Notice, now: Instant): void {
    const { id } = entry.beat;
    enter(entry.stats, notice, now.wall);
    this.#notices.push([id, notice]);
    if (notice.type === 'overdue') this.#discount(entry, notice.attempt);
    if (notice.type === 'accepted') this.#final?.missed.delete(id);
    const isSilent = notice.type === 'state' && ['gone', 'withheld', 'stopped'].includes(notice.to);
    if (notice.type === 'accepted' || isSilent) this.#endFinal(id);
  }

  #endFinal(id: number): void {
    if (this.#final?.awaited.delete(id) && this.#final.awaited.size === 0) this.#final.end();
  }

  /** Neither the room nor the rate limit waits for it any longer. */
  #discount(entry: Entry, attempt: number): void {
    const under = entry.calls.get(attempt);
    if (under === undefined) return;
    this.#calls.overdue(under.call);
    this.#limiter.lost(under.departure);
  }

  #takeKey(key: Key): void {
    this.#limiter.forget();
    for (const entry of this.#deployments.values()) {
      this.#tell(entry, { type: 'key', generation: key.generation }, this.#now());
    }
    this.#pump();
  }

  #pump(): void {
    const now = this.#now();
    this.#watchClocks(now);
    for (let next = this.#queue.due(now.mono); next; next = this.#queue.due(now.mono)) {
      this.#tell(next, { type: 'wake', room: false }, now);
    }
    for (let next = this.#queue.next(now.mono); next; next = this.#queue.next(now.mono)) {
      this.#tell(next, { type: 'wake', room: true, heldUntil: this.#queue.heldUntil(next, now.mono) }, now);
    }
    this.#arm();
    this.#deliver();
  }

  /** A clock step concerns every deployment, also those with nothing to do for a while. */
  #watchClocks(now: Instant): void {
    const offset = now.wall - now.mono;
    if (Math.abs(offset - this.#offset) < NOTABLE_DRIFT) return;
    this.#offset = offset;
    for (const entry of this.#deployments.values()) this.#tell(entry, { type: 'wake', room: false }, now);
  }

  #deliver(): void {
    for (const [id, notice] of this.#notices.splice(0)) {
      try {
        this.#ports.listener(id, notice);
      } catch {
        // A listener's fault must not cost a heartbeat.
      }
    }
  }

  #arm(): void {
    const { mono } = this.#now();
    const idle = this.#stopped || this.#deployments.size === 0;
    this.#alarm.set(idle ? Infinity : Math.min(this.#queue.nextAt(mono), mono + this.#longestSleep));
  }
}

function rateAnswerOf(outcome: AttemptOutcome): RateAnswer | undefined {
  if (outcome.type === 'failed') return undefined;
  return outcome.type === 'throttled' ? { ...outcome, throttled: true } : { throttled: false };
}

class Alarm {
  readonly #ports: Pick<Ports, 'clock' | 'setTimer'>;
  readonly #ring: () => void;
  #cancel: CancelTimer | undefined;
  #setFor = Infinity;

  constructor(ports: Pick<Ports, 'clock' | 'setTimer'>, ring: () => void) {
    this.#ports = ports;
    this.#ring = ring;
  }

  /** Sets the timer, unless it is set to an earlier time. Infinity clears it. */
  set(at: number): void {
    const { clock, setTimer } = this.#ports;
    if (this.#cancel !== undefined && this.#setFor <= at && at !== Infinity) return;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#setFor = at;
    if (at === Infinity) return;
    this.#cancel = setTimer(Math.max(0, at - clock.mono()), () => {
      this.#cancel = undefined;
      this.#ring();
    });
  }
}

/** The fractional parts of its multiples lie evenly in [0, 1), however many there are (Weyl's theorem). */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** Under a shared limit, all but one of those that begin at once are refused. */
const AT_ONCE = 32;

/** Between the other first heartbeats, ms. One core sends 3,300 a second, second heartbeats included. */
const APART = 1000 / 1750;

class Stagger {
  #added = 0;
  #last = -Infinity;

  /**
   * `spread`: the part of an interval, (0, 1], until the first heartbeat after a disturbance. No first
   * heartbeat waits longer than T/10, because the rest of its TTL is not known here.
   */
  join(mono: number, { firstWithin }: Timing): { readonly spread: number; readonly dueAt: number } {
    this.#added += 1;
    const spread = 1 - ((this.#added * GOLDEN_RATIO) % 1);
    const next = Math.max(this.#last, mono - AT_ONCE * APART) + APART;
    if (next > mono + firstWithin) return { spread, dueAt: mono };
    this.#last = next;
    return { spread, dueAt: Math.max(mono, next) };
  }
}
