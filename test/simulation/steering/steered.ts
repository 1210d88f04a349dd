/** A world with steering in it, beside its twin without: minute by minute, with the real decisions and the model of the fleet. */
import type { Advice, AdvisedSet } from '../../../src/scaling/advice/advice.ts';
import type { RecordedStretch } from '../../../src/scaling/advice/recorded.ts';
import { answered, decide, type Answer } from '../../../src/scaling/autotune/decide.ts';
import { EVIDENCE_MS } from '../../../src/scaling/autotune/evidence.ts';
import type { Minute } from '../../../src/scaling/autotune/minutes.ts';
import { reachOf, STEP_FACTOR } from '../../../src/scaling/autotune/reach.ts';
import {
  NEVER_STEERED,
  parametersSinceMs,
  type Change,
  type Numbers,
  type Some,
  type SteeringState,
} from '../../../src/scaling/autotune/state.ts';
import type { Arrival } from '../../../src/scaling/planner/load/load.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';
import { Random } from '../random.ts';
import { adviseIn, type Question } from './advisor.ts';
import { DAY_MINUTES, requestsOf } from './demand.ts';
import { Endpoint, totalsOf } from './endpoint.ts';
import { HISTORY_DAYS, STEERED_DAYS, WORLD_MINUTES, type Happening, type World } from './world.ts';

/** Parts that may be broken on purpose. */
export interface Steering {
  readonly decide: typeof decide;
  readonly advise: (question: Question) => Promise<Advice>;
  readonly stepFactor: number;
}

export const STEERING: Steering = { decide, advise: adviseIn, stepFactor: STEP_FACTOR };

/** What was sent, and what was in force just before. */
export interface Sent {
  readonly atMs: number;
  readonly values: Some;
  readonly isReturn: boolean;
  readonly change: Change;
  readonly before: Numbers;
}

export interface Steered {
  readonly world: World;
  readonly sent: readonly Sent[];
  /** As they were at last. */
  readonly changes: readonly Change[];
  /** By the minute: as the steered endpoint was seen, and its parameters. */
  readonly minutes: readonly Minute[];
  readonly parameters: readonly Numbers[];
  /** Starts of the steering process, and what a person set, Unix ms. */
  readonly startsMs: readonly number[];
  readonly handsMs: readonly number[];
  /** Of the steered week, and of its days from the fourth on. */
  readonly week: Beside;
  readonly late: Beside;
}

interface Totals {
  readonly cost: number;
  readonly p99: number;
}

export interface Beside {
  readonly steered: Totals;
  readonly twin: Totals;
}

/** Requests that the advisor goes by, ms: what is older is not asked for, so that worlds stay quick. */
const REMEMBERED_DAYS = 1;
/** Where nothing better was found, worlds are searched anew once a day only: it is most of what they take. */
const SEARCH_AGAIN_MS = 86_400_000;
const MINUTE_MS = 60_000;

export function steer(world: World, steering: Steering = STEERING): Promise<Steered> {
  return new SteeredWorld(world, steering).run();
}

/** The same world, never steered, with other parameters: what a fixed set does in it. */
export function runFixed(world: World, parameters: ResolvedParameters): Endpoint {
  const random = new Random(world.seed + 1_000_003);
  const endpoint = new Endpoint(parameters, world.settings, world.sayings);
  const happenings = [...world.happenings];
  for (let minute = 0; minute < WORLD_MINUTES; minute += 1) {
    while ((happenings[0]?.minute ?? Infinity) <= minute) {
      const happening = happenings.shift();
      if (happening) happen(happening, [endpoint], world.seed);
    }
    for (const { atSeconds, work } of requestsOf(
      minute,
      world.demand[minute] ?? 0,
      world.requestSize,
      random.next,
    )) {
      endpoint.arrive(atSeconds, work);
    }
    endpoint.endMinute((minute + 1) * 60);
  }
  return endpoint;
}

function happen(happening: Happening, endpoints: readonly Endpoint[], seed: number): void {
  for (const endpoint of endpoints) {
    if (happening.kind === 'drift') endpoint.drift(happening.factor);
    else if (happening.kind === 'become') endpoint.become(happening.settings);
    else if (happening.kind === 'death') endpoint.kill(new Random(seed + happening.minute).next);
    else if (happening.kind === 'hand') {
      const { max_workers } = endpoint.parameters;
      endpoint.parameters = {
        ...endpoint.parameters,
        cold_workers: Math.min(happening.coldWorkers, max_workers),
      };
    }
  }
}

class SteeredWorld {
  readonly #world: World;
  readonly #steering: Steering;
  readonly #steered: Endpoint;
  readonly #twin: Endpoint;
  /** Of the requests: the same for whoever runs the same world. */
  readonly #demand: Random;
  /** Of what befalls steering. */
  readonly #luck: Random;
  readonly #happenings: Happening[];
  readonly #minutes: Minute[] = [];
  #stretches: RecordedStretch[] = [];
  readonly #parameters: Numbers[] = [];
  readonly #sent: Sent[] = [];
  readonly #changes = new Map<number, Change>();
  readonly #startsMs: number[] = [];
  readonly #handsMs: number[] = [];
  #arrivals: Arrival[] = [];
  #state: SteeringState = NEVER_STEERED;
  #advice: Advice | undefined;
  #blindUntil = -1;

  constructor(world: World, steering: Steering) {
    this.#world = world;
    this.#steering = steering;
    this.#demand = new Random(world.seed + 1_000_003);
    this.#luck = new Random(world.seed + 2_000_003);
    this.#steered = new Endpoint(world.parameters, world.settings, world.sayings);
    this.#twin = new Endpoint(world.parameters, world.settings, world.sayings);
    this.#happenings = [...world.happenings];
  }

  async run(): Promise<Steered> {
    for (let minute = 0; minute < WORLD_MINUTES; minute += 1) {
      this.#happen(minute);
      this.#ask(minute);
      this.#look(minute);
      if (minute === HISTORY_DAYS * DAY_MINUTES) this.#startsMs.push(minute * MINUTE_MS);
      if (minute > HISTORY_DAYS * DAY_MINUTES) await this.#tick((minute + 1) * MINUTE_MS);
      this.#parameters.push(numbersOf(this.#steered.parameters));
    }
    const last = HISTORY_DAYS + STEERED_DAYS;
    return {
      world: this.#world,
      sent: this.#sent,
      changes: [...this.#changes.values()],
      minutes: this.#minutes,
      parameters: this.#parameters,
      startsMs: this.#startsMs,
      handsMs: this.#handsMs,
      week: this.#beside(HISTORY_DAYS, last),
      late: this.#beside(HISTORY_DAYS + 3, last),
    };
  }

  #beside(from: number, to: number): Beside {
    return { steered: totalsOf(this.#steered, from, to), twin: totalsOf(this.#twin, from, to) };
  }

  #happen(minute: number): void {
    while ((this.#happenings[0]?.minute ?? Infinity) <= minute) {
      const happening = this.#happenings.shift();
      if (!happening) return;
      const before = this.#steered.parameters.cold_workers;
      happen(happening, [this.#steered, this.#twin], this.#world.seed);
      const atMs = minute * MINUTE_MS;
      // Who sets what is set already has changed nothing, and nobody can see it.
      if (this.#steered.parameters.cold_workers !== before) this.#handsMs.push(atMs);
      if (happening.kind === 'hole') this.#blindUntil = minute + happening.minutes;
      if (happening.kind === 'restart' && minute > HISTORY_DAYS * DAY_MINUTES) {
        this.#startsMs.push(atMs);
        this.#advice = undefined;
        this.#state = JSON.parse(JSON.stringify(this.#state)) as SteeringState;
      }
    }
  }

  #ask(minute: number): void {
    const { demand, requestSize } = this.#world;
    for (const arrival of requestsOf(minute, demand[minute] ?? 0, requestSize, this.#demand.next)) {
      this.#steered.arrive(arrival.atSeconds, arrival.work);
      this.#twin.arrive(arrival.atSeconds, arrival.work);
      this.#arrivals.push(arrival);
    }
  }

  #look(minute: number): void {
    const seen = this.#steered.endMinute((minute + 1) * 60);
    this.#twin.endMinute((minute + 1) * 60);
    // What is not seen has no row.
    if (minute < this.#blindUntil) return;
    this.#minutes.push(seen.minute);
    this.#stretches.push(seen.stretch);
  }

  async #tick(nowMs: number): Promise<void> {
    const { bounds, settings, sayings } = this.#world;
    const isBlind = nowMs / MINUTE_MS <= this.#blindUntil;
    const workerPerformance = settings.performance.least * sayings.capacity;
    const before = this.#state;
    const decision = this.#steering.decide(
      before,
      {
        nowMs,
        endpointId: 1,
        sinceMs: this.#startsMs.at(-1) ?? nowMs,
        bounds,
        parameters: isBlind ? undefined : numbersOf(this.#steered.parameters),
        isActive: true,
        minutes: this.#minutes.slice(-EVIDENCE_MS / MINUTE_MS),
        advice: this.#advice,
        workerPerformance,
      },
      this.#steering.stepFactor,
    );
    this.#keep(decision.state);
    if (decision.send) this.#send(decision.send, nowMs);
    if (decision.wantsAdvice) this.#advice = await this.#askAdvice(nowMs, workerPerformance);
  }

  #send(values: Some, nowMs: number): void {
    const { change } = this.#state;
    if (!change) throw new Error('something was sent that is not written down');
    const before = numbersOf(this.#steered.parameters);
    this.#sent.push({ atMs: nowMs, values, isReturn: change.phase === 'returning', change, before });
    const luck = this.#luck.next();
    const isLost = luck < this.#world.unanswered;
    const isApplied = !isLost || luck < this.#world.unanswered / 3;
    if (isApplied) this.#steered.parameters = { ...this.#steered.parameters, ...values };
    this.#keep(answered(this.#state, answerOf(isLost, isApplied, luck), nowMs));
  }

  #keep(state: SteeringState): void {
    this.#state = state;
    if (state.change) this.#changes.set(state.change.id, state.change);
  }

  async #askAdvice(nowMs: number, workerPerformance: number): Promise<Advice> {
    const { bounds, limitSeconds, settings, believed, requestSize } = this.#world;
    const last = this.#advice;
    if (last?.verdict === 'keep' && nowMs - last.toMs < SEARCH_AGAIN_MS) return { ...last, atMs: nowMs };
    const fromMs = nowMs - REMEMBERED_DAYS * 86_400_000;
    this.#arrivals = this.#arrivals.filter(({ atSeconds }) => atSeconds * 1000 >= fromMs);
    this.#stretches = this.#stretches.filter((stretch) => stretch.fromMs >= fromMs);
    const parameters = numbersOf(this.#steered.parameters);
    const { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds } = settings;
    return this.#steering.advise({
      endpoint: 'chat',
      nowMs,
      fromMs,
      parameters,
      parametersSinceMs: parametersSinceMs(this.#state),
      reach: reachOf(parameters, bounds, workerPerformance, this.#steering.stepFactor),
      workerPerformance,
      limitSeconds,
      stretches: this.#stretches,
      starts: this.#steered.starts,
      performances: [workerPerformance],
      arrivals: this.#arrivals,
      requestSize,
      assumed: { controlSeconds, loadWindowSeconds, scaleDownSeconds, destroySeconds, ...believed },
    });
  }
}

export function setOf(parameters: AdvisedSet): AdvisedSet {
  const { target_util, cold_mult, cold_workers, min_load, min_cold_load } = parameters;
  return { target_util, cold_mult, cold_workers, min_load, min_cold_load };
}

function answerOf(isLost: boolean, isApplied: boolean, luck: number): Answer {
  if (!isLost) return { kind: 'taken', words: '' };
  const isRefused = !isApplied && luck * 1000 > Math.floor(luck * 1000) + 0.5;
  return isRefused ? { kind: 'refused', words: 'HTTP 429' } : { kind: 'unknown', words: 'no answer' };
}

function numbersOf(parameters: ResolvedParameters): Numbers {
  return Object.fromEntries(
    Object.entries(parameters).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}
