/** Runs the heartbeats of any number of deployments. It decides nothing: it tells the engine, and does what that asks. */
import { type Departure, type RateAnswer, RateLimiter } from '../../client/rate-limiter.ts';
import type { Instant } from '../engine/clock-drift.ts';
import { type StepFunction, step as engineStep } from '../engine/engine.ts';
import { type TimingChoice, timingFor } from '../engine/formulas.ts';
import { FinalBeat, finalBeatMs, wantsFinalBeat } from '../engine/last-beat.ts';
import type { Outcome } from '../engine/outcome.ts';
import { isFinal, isInTime } from '../engine/schedule.ts';
import {
  type Event,
  type Heartbeat,
  type HeartbeatState,
  type Notice,
  type Send,
  startHeartbeat,
} from '../engine/state.ts';
import { type DeploymentSnapshot, type SharedLimit, snapshotOf } from '../view/snapshot.ts';
import { type Stats, emptyStats, enter } from '../view/stats.ts';
import { type Call, Calls } from './calls.ts';
import { type Key, KeySource } from './key-source.ts';
import type { CancelTimer, Ports } from './ports.ts';
import { HEARTBEAT, Queue } from './queue.ts';
import { Stagger } from './stagger.ts';

export interface DriverOptions {
  readonly ports: Ports;
  readonly key: string;
  readonly concurrency?: number;
  /**
   * How many attempts may be open, overdue ones counted. Default 512. Where all are, one that is overdue and has no
   * connection yet gives way to one that is due: up to so many deployments keep the first promise while connecting
   * hangs, and up to half as many whatever hangs.
   */
  readonly openLimit?: number;
  /** The engine. The simulation hands in broken ones, to prove that it would notice. */
  readonly step?: StepFunction;
  /** That of the key, for all its requests. A new one when absent. */
  readonly limiter?: RateLimiter | undefined;
}

/** A deployment to keep alive: its numeric id, and what its timing follows from. */
export interface DeploymentChoice extends TimingChoice {
  readonly id: number;
}

interface Entry {
  beat: Heartbeat;
  readonly stats: Stats;
  /** By attempt. */
  readonly calls: Map<number, { readonly call: Call; readonly departure: Departure }>;
}

/** The longest sleep, ms: a clock step is noticed within this, or within q where that is shorter. */
const LONGEST_SLEEP = 1000;
/** A drift between the clocks that every heartbeat is told of at once, ms. */
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
  readonly #outbox: Outbox;
  #final: FinalBeat | undefined;
  #offset: number;
  #longestSleep = LONGEST_SLEEP;
  readonly #alarm: Alarm;
  #withheld = false;
  #stopped = false;

  constructor(options: DriverOptions) {
    this.#ports = options.ports;
    this.#outbox = new Outbox(options.ports.listener);
    this.#step = options.step ?? engineStep;
    this.#limiter = options.limiter ?? new RateLimiter({ random: options.ports.random });
    this.#calls = new Calls(options.ports);
    const { concurrency = 256, openLimit = 512 } = options;
    this.#concurrency = concurrency;
    this.#queue = new Queue(this.#limiter, this.#calls, { concurrency, openLimit });
    this.#keys = new KeySource(options.key, options.ports, (key) => this.#takeKey(key));
    const now = this.#now();
    this.#offset = now.wall - now.mono;
    this.#alarm = new Alarm(options.ports, () => this.#pump());
  }

  /** Adds a deployment, which beats at once unless many are added together, or changes the timing of a known one. */
  add(choice: DeploymentChoice): void {
    if (this.#stopped) return;
    const timing = timingFor(choice);
    this.#longestSleep = Math.min(this.#longestSleep, timing.tick);
    const known = this.#deployments.get(choice.id);
    if (known === undefined) this.#begin(choice.id, timing);
    else this.#retime(known, timing);
    this.#arm();
  }

  /** Stops one deployment's heartbeat and forgets it; the others are not affected. */
  remove(id: number): void {
    const entry = this.#deployments.get(id);
    if (entry === undefined) return;
    this.#tell(entry, { type: 'stop' }, this.#now());
    this.#deployments.delete(id);
    this.#queue.remove(entry.beat.timing);
    this.#pump();
  }

  /** Beats at once where `chosen` says so, by the deployment's state: a reload asks those that are gone. */
  beatNow(chosen: (state: HeartbeatState, id: number) => boolean): void {
    for (const entry of this.#deployments.values()) {
      const { state, id } = entry.beat;
      if (chosen(state, id)) this.#tell(entry, { type: 'beat-now' }, this.#now());
    }
    this.#pump();
  }

  /** The app is unhealthy: no heartbeat is sent, of those that are added neither, until resume(). May be called again. */
  withhold(): void {
    this.#withheld = true;
    for (const entry of this.#deployments.values()) this.#tell(entry, { type: 'withhold' }, this.#now());
    this.#pump();
  }

  /**
   * The app is healthy again: all whose heartbeats were withheld are beaten at once, the one that would die first before the
   * others. Returns the ids of those for which it is too late, or for which an attempt that takes A would be.
   */
  resume(): number[] {
    this.#withheld = false;
    const now = this.#now();
    const withheld = [...this.#deployments.values()].filter(({ beat }) => beat.withheld);
    for (const entry of withheld) this.#tell(entry, { type: 'resume' }, now);
    this.#pump();
    return withheld.filter(({ beat }) => !isInTime(beat, now.mono)).map(({ beat }) => beat.id);
  }

  /** Looks at the key source now, for instance because a reload was asked for. */
  async readKey(): Promise<void> {
    if (this.#stopped) return;
    const reading = this.#keys.readAnew();
    this.#calls.track(reading);
    await reading;
  }

  /** One deployment as it is now; undefined where it is not kept alive. */
  snapshotOf(id: number): DeploymentSnapshot | undefined {
    const entry = this.#deployments.get(id);
    return entry && snapshotOf(entry.beat, entry.stats, this.#now());
  }

  /** The rate limit that all deployments share, and whether they fit under it; undefined where none was found. */
  sharedLimit(): SharedLimit | undefined {
    return this.#queue.sharedLimit();
  }

  leavesAt(): number {
    return this.#queue.leavesAt();
  }

  /** How long finalBeat() takes at most, where the service answers within A, ms: to begin with it in time. */
  finalBeatMs(): number {
    return finalBeatMs(this.#unreached(), this.#limiter.spacing(HEARTBEAT), this.#concurrency);
  }

  /**
   * One last beat for every deployment that is not gone, so that the next process has the whole TTL; one that was
   * reached just now has it, and does not have to wait for the spacing. They leave in the order of their remaining time,
   * under a shared rate limit one by one. Resolves with the ids that were not reached: as soon as the others were,
   * after finalBeatMs(), or after `limitMs`, whichever comes first. Never rejects. To be followed by stop().
   */
  async finalBeat(limitMs = Infinity): Promise<number[]> {
    const live = this.#unreached();
    const limit = Math.min(limitMs, this.finalBeatMs());
    const final = new FinalBeat(live.map(({ beat }) => beat.id));
    this.#final = final;
    this.#queue.draining = true;
    for (const entry of live) this.#tell(entry, { type: 'beat-now' }, this.#now());
    this.#pump();
    return final.missed(limit, this.#ports.setTimer);
  }

  /** Ends every request and timer. When it resolves, none is left. May be called again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const entry of this.#deployments.values()) this.#tell(entry, { type: 'stop' }, this.#now());
    this.#keys.stop();
    this.#arm();
    this.#outbox.deliver();
    await this.#calls.drained();
  }

  #now(): Instant {
    const { clock } = this.#ports;
    return { mono: clock.mono(), wall: clock.wall() };
  }

  #unreached(): Entry[] {
    const { mono } = this.#now();
    return [...this.#deployments.values()].filter(({ beat }) => wantsFinalBeat(beat, mono));
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

  #retime(entry: Entry, timing: Heartbeat['timing']): void {
    this.#queue.remove(entry.beat.timing);
    this.#queue.add(timing);
    this.#tell(entry, { type: 'timing', timing }, this.#now());
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

  #send(entry: Entry, { attempt, timeoutMs, fresh, keyGeneration }: Send): void {
    const { id: deploymentId, lastSentAt } = entry.beat;
    const key = this.#keys.key.value;
    const departure = this.#limiter.sent(HEARTBEAT, lastSentAt);
    const call = this.#calls.start(
      { deploymentId, key, keyGeneration, timeoutMs, fresh },
      {
        settled: (outcome) => {
          const now = this.#now();
          entry.calls.delete(attempt);
          const answer = rateAnswerOf(outcome);
          if (answer === undefined) this.#limiter.lost(departure);
          else this.#limiter.answered(departure, answer, now.mono);
          this.#tell(entry, { type: 'settled', attempt, outcome }, now);
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
    under.call.abort();
  }

  #note(entry: Entry, notice: Notice, now: Instant): void {
    const { id } = entry.beat;
    enter(entry.stats, notice, now.wall);
    this.#outbox.add(id, notice);
    if (notice.type === 'overdue') this.#discount(entry, notice.attempt);
    if (notice.type === 'accepted') this.#final?.settle(id, 'reached');
    if (notice.type === 'state' && (notice.to === 'gone' || notice.to === 'withheld' || isFinal(notice.to)))
      this.#final?.settle(id, 'ended');
  }

  /** Neither the room nor the rate limit waits for it any longer. */
  #discount(entry: Entry, attempt: number): void {
    const under = entry.calls.get(attempt);
    if (under === undefined) return;
    under.call.discount();
    this.#limiter.lost(under.departure);
  }

  #takeKey(key: Key): void {
    this.#limiter.forget();
    for (const entry of this.#deployments.values()) {
      this.#tell(entry, { type: 'key', generation: key.generation }, this.#now());
    }
    this.#pump();
  }

  /** Does everything that is due by now, and arms the timer for what is not. */
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
    this.#outbox.deliver();
  }

  /** A clock step or a suspend concerns every deployment, also those that have nothing to do for a while. */
  #watchClocks(now: Instant): void {
    const offset = now.wall - now.mono;
    if (Math.abs(offset - this.#offset) < NOTABLE_DRIFT) return;
    this.#offset = offset;
    for (const entry of this.#deployments.values()) this.#tell(entry, { type: 'wake', room: false }, now);
  }

  #arm(): void {
    const { mono } = this.#now();
    const idle = this.#stopped || this.#deployments.size === 0;
    this.#alarm.set(idle ? Infinity : Math.min(this.#queue.nextAt(mono), mono + this.#longestSleep));
  }
}

/** What an outcome says of the rate limit; undefined where no answer of the service came. */
function rateAnswerOf(outcome: Outcome): RateAnswer | undefined {
  if (outcome.type === 'failed') return undefined;
  return outcome.type === 'throttled' ? { ...outcome, throttled: true } : { throttled: false };
}

/** Notices on their way to the listener, which hears them last, so that it holds up no request. */
class Outbox {
  #notices: { readonly id: number; readonly notice: Notice }[] = [];
  readonly #listener: Ports['listener'];

  constructor(listener: Ports['listener']) {
    this.#listener = listener;
  }

  add(id: number, notice: Notice): void {
    this.#notices.push({ id, notice });
  }

  deliver(): void {
    const notices = this.#notices;
    this.#notices = [];
    for (const { id, notice } of notices) {
      try {
        this.#listener(id, notice);
      } catch {
        // A listener's fault must not cost a heartbeat.
      }
    }
  }
}

/** The one timer of a driver. Times are monotonic ms unless they say otherwise. */
export class Alarm {
  readonly #ports: Pick<Ports, 'clock' | 'setTimer'>;
  readonly #ring: () => void;
  #cancel: CancelTimer | undefined;
  #setFor = Infinity;

  constructor(ports: Pick<Ports, 'clock' | 'setTimer'>, ring: () => void) {
    this.#ports = ports;
    this.#ring = ring;
  }

  /** Rings then, or when it was to ring before; Infinity: not at all any more. */
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
