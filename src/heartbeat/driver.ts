/**
 * Runs the heartbeats of any number of deployments: one timer, one agenda, a limit on requests under way, the key.
 * It decides nothing about heartbeats; it tells the engine what happened and does what the engine asks.
 */

import { Agenda } from './agenda.ts';
import { Calls, type Call } from './calls.ts';
import { step as engineStep, type StepFunction } from './engine.ts';
import { Crowd } from './crowd.ts';
import { FinalBeat } from './final-beat.ts';
import { timingFor, type TimingChoice } from './formulas.ts';
import { KeySource, type Key } from './key-source.ts';
import { emptyLedger, enter, type Ledger } from './ledger.ts';
import {
  startHeartbeat,
  type Event,
  type Heartbeat,
  type HeartbeatState,
  type Notice,
  type Send,
} from './machine.ts';
import type { Outcome } from './outcome.ts';
import type { CancelTimer, Ports } from './ports.ts';
import type { Instant } from './reckoning.ts';
import { isFinal, wasJustReached } from './schedule.ts';
import { viewDeployment, type DeploymentView, type DriverView } from './view.ts';

export interface DriverOptions {
  readonly ports: Ports;
  /** The key to begin with. */
  readonly key: string;
  /** How many attempts may be under way, overdue ones not counted. Default 256. */
  readonly concurrency?: number;
  /** The engine. The simulation hands in broken ones, to prove that it would notice. */
  readonly step?: StepFunction;
}

/** A deployment to keep alive: its numeric id, and what its timing follows from. */
export interface DeploymentChoice extends TimingChoice {
  readonly id: number;
}

interface Deployment {
  beat: Heartbeat;
  readonly ledger: Ledger;
  /** By attempt. */
  readonly calls: Map<number, Call>;
}

/** The longest sleep, ms: clocks that part are noticed within this, or within q where that is shorter. */
const LONGEST_SLEEP = 1000;
/** A drift between the clocks that every heartbeat is told of at once, ms. */
const NOTABLE_DRIFT = 50;

export class HeartbeatDriver {
  readonly #ports: Ports;
  readonly #step: StepFunction;
  readonly #concurrency: number;
  readonly #keys: KeySource;
  readonly #calls: Calls;
  readonly #deployments = new Map<number, Deployment>();
  readonly #agenda = new Agenda<Deployment>();
  readonly #crowd = new Crowd();
  #outbox: { readonly id: number; readonly notice: Notice }[] = [];
  #final: FinalBeat | undefined;
  #offset: number;
  #longestSleep = LONGEST_SLEEP;
  #cancelTimer: CancelTimer | undefined;
  #armedFor = Infinity;
  #lastTickAt: number;
  #lastLagMs = 0;
  #listenerErrors = 0;
  #stopped = false;

  constructor(options: DriverOptions) {
    this.#ports = options.ports;
    this.#step = options.step ?? engineStep;
    this.#concurrency = options.concurrency ?? 256;
    this.#calls = new Calls(options.ports);
    this.#keys = new KeySource(options.key, options.ports, (key) => this.#takeKey(key));
    const now = this.#now();
    this.#offset = now.wall - now.mono;
    this.#lastTickAt = now.wall;
  }

  /** Adds a deployment, which beats at once unless it comes in a crowd, or changes the timing of one that is there. */
  add(choice: DeploymentChoice): void {
    if (this.#stopped) return;
    const timing = timingFor(choice);
    this.#longestSleep = Math.min(this.#longestSleep, timing.tick);
    const known = this.#deployments.get(choice.id);
    if (known === undefined) this.#begin(choice.id, timing);
    else this.#tell(known, { type: 'timing', timing }, this.#now());
    this.#arm();
  }

  /** Stops one deployment's heartbeat and forgets it; the others notice nothing. */
  remove(id: number): void {
    const deployment = this.#deployments.get(id);
    if (deployment === undefined) return;
    this.#tell(deployment, { type: 'stop' }, this.#now());
    this.#deployments.delete(id);
    this.#pump();
  }

  /** Beats at once where `chosen` says so, by the deployment's state: a reload asks those that are gone. */
  beatNow(chosen: (state: HeartbeatState, id: number) => boolean): void {
    for (const deployment of this.#deployments.values()) {
      const { state, id } = deployment.beat;
      if (chosen(state, id)) this.#tell(deployment, { type: 'beat-now' }, this.#now());
    }
    this.#pump();
  }

  /** Looks at the key source now, for instance because a reload was asked for. */
  async readKey(): Promise<void> {
    if (this.#stopped) return;
    const reading = this.#keys.read();
    this.#calls.track(reading);
    await reading;
  }

  /** Each deployment as it is when it is asked for: thousands may be looked at with pauses between them. */
  *views(): Generator<DeploymentView, void> {
    for (const { beat, ledger } of this.#deployments.values())
      yield viewDeployment(beat, ledger, this.#now());
  }

  view(): DriverView {
    return {
      deployments: [...this.views()],
      lastTickAt: this.#lastTickAt,
      lastLagMs: this.#lastLagMs,
      inFlight: this.#calls.counted,
      waiting: this.#agenda.senders,
      listenerErrors: this.#listenerErrors,
    };
  }

  /**
   * One last beat for every deployment that is not gone, so that whoever comes next has the whole TTL; one that was
   * reached just now has it, and is not made to wait for the spacing. Resolves with the ids that were not reached: as soon as
   * the others were, after the longest A + s, or when the signal fires, whichever comes first. Never rejects. To
   * be followed by stop().
   */
  async finalBeat(signal: AbortSignal): Promise<number[]> {
    const now = this.#now();
    const live = [...this.#deployments.values()].filter(
      ({ beat }) => !isFinal(beat.state) && !beat.gone && !wasJustReached(beat, now.mono),
    );
    const limits = live.map(({ beat }) => beat.timing.attemptTimeout + beat.spacing);
    const final = new FinalBeat(live.map(({ beat }) => beat.id));
    this.#final = final;
    for (const deployment of live) this.#tell(deployment, { type: 'beat-now' }, this.#now());
    this.#pump();
    return final.missed(Math.max(0, ...limits), signal, this.#ports.setTimer);
  }

  /** Ends every request and timer. When it resolves, none is left. May be called again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const deployment of this.#deployments.values())
      this.#tell(deployment, { type: 'stop' }, this.#now());
    this.#keys.stop();
    this.#arm();
    this.#deliver();
    await this.#calls.drained();
  }

  #now(): Instant {
    const { clock } = this.#ports;
    return { mono: clock.mono(), wall: clock.wall() };
  }

  #begin(id: number, timing: Heartbeat['timing']): void {
    const now = this.#now();
    const { spread, dueAt } = this.#crowd.join(now.mono, timing);
    const { generation: keyGeneration } = this.#keys.key;
    const beat = startHeartbeat({ id, timing, spread, dueAt, keyGeneration }, now);
    const deployment = { beat, ledger: emptyLedger(), calls: new Map<number, Call>() };
    this.#deployments.set(id, deployment);
    this.#agenda.place(deployment, now.mono);
  }

  /** Tells the engine of an event and does what it asks. */
  #tell(deployment: Deployment, event: Event, now: Instant): void {
    const { beat, actions } = this.#step(deployment.beat, event, now, this.#ports.random);
    deployment.beat = beat;
    for (const action of actions) {
      if (action.type === 'send') this.#send(deployment, action);
      else if (action.type === 'abort') this.#abort(deployment, action.attempt);
      else if (action.type === 'read-key') this.#calls.track(this.#keys.read());
      else this.#note(deployment, action.notice, now);
    }
    this.#agenda.place(deployment, now.mono);
  }

  #send(deployment: Deployment, { attempt, timeoutMs, fresh, keyGeneration }: Send): void {
    const deploymentId = deployment.beat.id;
    const key = this.#keys.key.value;
    const call = this.#calls.start(
      { deploymentId, key, keyGeneration, timeoutMs, fresh },
      (outcome: Outcome) => {
        deployment.calls.delete(attempt);
        this.#tell(deployment, { type: 'settled', attempt, outcome }, this.#now());
        this.#pump();
      },
    );
    deployment.calls.set(attempt, call);
  }

  #abort(deployment: Deployment, attempt: number): void {
    deployment.calls.get(attempt)?.abort();
    deployment.calls.delete(attempt);
  }

  #note(deployment: Deployment, notice: Notice, now: Instant): void {
    const { id } = deployment.beat;
    enter(deployment.ledger, notice, now.wall);
    this.#outbox.push({ id, notice });
    if (notice.type === 'overdue') deployment.calls.get(notice.attempt)?.discount();
    if (notice.type === 'accepted') this.#final?.settle(id, 'reached');
    if (notice.type === 'state' && (notice.to === 'gone' || isFinal(notice.to)))
      this.#final?.settle(id, 'ended');
  }

  #takeKey(key: Key): void {
    for (const deployment of this.#deployments.values()) {
      this.#tell(deployment, { type: 'key', generation: key.generation }, this.#now());
    }
    this.#pump();
  }

  /** Does everything that is due by now, and arms the timer for what is not. */
  #pump(): void {
    const now = this.#now();
    this.#watchClocks(now);
    for (let next = this.#agenda.due(now.mono); next; next = this.#agenda.due(now.mono)) {
      this.#tell(next, { type: 'wake', room: false }, now);
    }
    while (this.#calls.counted < this.#concurrency) {
      const first = this.#agenda.sender();
      if (first === undefined) break;
      this.#tell(first, { type: 'wake', room: true }, now);
    }
    this.#arm();
    this.#deliver();
  }

  /** A clock step or a suspend concerns every deployment, also those that have nothing to do for a while. */
  #watchClocks(now: Instant): void {
    const offset = now.wall - now.mono;
    if (Math.abs(offset - this.#offset) < NOTABLE_DRIFT) return;
    this.#offset = offset;
    for (const deployment of this.#deployments.values())
      this.#tell(deployment, { type: 'wake', room: false }, now);
  }

  #arm(): void {
    const { mono } = this.#now();
    const idle = this.#stopped || this.#deployments.size === 0;
    const full = this.#calls.counted >= this.#concurrency;
    const next = this.#agenda.senders > 0 && !full ? mono : this.#agenda.nextAt;
    const at = idle ? Infinity : Math.min(next, mono + this.#longestSleep);
    if (this.#cancelTimer !== undefined && this.#armedFor <= at && !idle) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#armedFor = at;
    if (!idle) this.#cancelTimer = this.#ports.setTimer(Math.max(0, at - mono), () => this.#wake());
  }

  #wake(): void {
    const now = this.#now();
    this.#cancelTimer = undefined;
    this.#lastTickAt = now.wall;
    this.#lastLagMs = Math.max(0, now.mono - this.#armedFor);
    this.#pump();
  }

  /** Last, so that no listener holds up a request. */
  #deliver(): void {
    const outbox = this.#outbox;
    this.#outbox = [];
    for (const { id, notice } of outbox) {
      try {
        this.#ports.listener(id, notice);
      } catch {
        this.#listenerErrors += 1;
      }
    }
  }
}
