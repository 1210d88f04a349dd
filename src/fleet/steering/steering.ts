/**
 * Steering, carried out: each minute it reads parameters and history, lets the pure core decide, stores what that says, and
 * only then sends. One endpoint after the other, one request at a time; whatever fails is looked at again a minute later.
 */
import { boundsOf, type Bounds } from '../../scaling/autotune/bounds.ts';
import { answered, decide, type Decision } from '../../scaling/autotune/decide.ts';
import { evidenceFromMs } from '../../scaling/autotune/evidence.ts';
import { reachOf } from '../../scaling/autotune/reach.ts';
import {
  isUnderWay,
  NEVER_STEERED,
  parametersSinceMs,
  setIn,
  type Some,
  type SteeringState,
} from '../../scaling/autotune/state.ts';
import { within, type Clock } from '../../time/clock.ts';
import type { ListedEndpoint } from '../discovery/knowledge.ts';
import { numericParameters, toldParameters } from '../discovery/parameters.ts';
import { Advising } from './advising.ts';
import { JOURNAL_SHOWN, KnownEndpoints } from './known-endpoints.ts';
import { minutesOf, MOST_ROWS } from './minutes.ts';
import { noticesOf } from './notices.ts';
import type {
  AdviceQuestion,
  AskAdvice,
  SteeredService,
  SteeredWatch,
  SteeringNotice,
  SteeringSettings,
  SteeringView,
  UnwatchedEndpoint,
} from './port.ts';
import { nothingKnown, type SteeredEndpoint } from './steered-endpoint.ts';
import { unwatchedView, viewOf } from './view.ts';

export interface SteeringOptions {
  readonly settings: SteeringSettings;
  readonly service: SteeredService;
  readonly watch: SteeredWatch;
  /** Without it nothing new ever moves. */
  readonly advise: AskAdvice | undefined;
  /** Whether this replica may act: not for another moment after it may not. */
  readonly mayAct: () => boolean;
  readonly notice: (notice: SteeringNotice) => void;
  readonly clock: Clock;
}

/** Between two looks, ms. */
export const LOOK_EVERY_MS = 60_000;
/** What the service, or where things are stored, takes longer for has failed, ms. */
const ANSWER_MS = 15_000;
const STORE_MS = 5_000;

export class Steering {
  readonly #options: SteeringOptions;
  /** Since when nobody else has steered. */
  #sinceMs: number;
  readonly #known: KnownEndpoints;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #settings: SteeringSettings;
  readonly #advising: Advising;

  constructor(options: SteeringOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#sinceMs = options.clock.now();
    this.#known = new KnownEndpoints(options.watch);
    const { advise, clock, notice } = options;
    this.#advising = new Advising({
      advise,
      onFailure: (endpoint, error) => notice({ kind: 'steering failed', endpoint, error }),
      clock,
      signal: this.#stopping.signal,
    });
    this.#ended = this.#run();
  }

  /** From now on. */
  apply(settings: SteeringSettings): void {
    this.#settings = settings;
  }

  /** Undefined of an endpoint that is not steered, and never was. */
  view(label: string): SteeringView | undefined {
    const isSteered = this.#settings.apply && boundsOf(this.#settings.bounds, label) !== undefined;
    const known = this.#known.get(label) ?? (isSteered ? nothingKnown(NEVER_STEERED) : undefined);
    if (!known) return undefined;
    return viewOf(known, this.#settings.apply, this.#options.watch.isKept);
  }

  /** Those with a change under way that are not watched any more. */
  unwatched(): readonly UnwatchedEndpoint[] {
    const { watch } = this.#options;
    // As long as the service has not said which there are, nobody knows.
    if (!watch.isListed()) return [];
    const labels = new Set(watch.watched().map(({ label }) => label));
    return [...this.#known.all()].flatMap(([endpoint, known]) => {
      const steering = labels.has(endpoint) ? undefined : unwatchedView(known);
      return steering ? [{ endpoint, steering }] : [];
    });
  }

  /** As stop, where this process goes on and no endpoint is watched any more. */
  leave(): Promise<void> {
    if (this.#options.mayAct()) this.#sayAllBut([]);
    return this.stop();
  }

  /** Nothing is sent any more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    await this.#ended;
    await this.#advising.ended();
  }

  async #run(): Promise<void> {
    const { clock, notice } = this.#options;
    const { signal } = this.#stopping;
    const failed = (error: unknown) => {
      if (!signal.aborted) notice({ kind: 'steering failed', endpoint: undefined, error });
    };
    // Looked at in a minute, but told at once: what earlier processes did, and what the service is to have for it.
    await this.#known.read().catch(failed);
    while (!signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
      if (signal.aborted) return;
      await this.#lookAtAll().catch(failed);
    }
  }

  async #lookAtAll(): Promise<void> {
    const { watch, service, clock } = this.#options;
    const { signal } = this.#stopping;
    await this.#readStored();
    if (!(await this.#mayGoOn())) return;
    this.#sayUnwatched();
    if (!this.#settings.apply) return;
    const concerned = watch.watched().filter(({ label }) => this.#concerns(label));
    if (concerned.length === 0) return;
    const rows = await within(clock, ANSWER_MS, signal, (either) => service.endpoints(either)).catch(
      () => [],
    );
    for (const { label, id } of concerned) {
      if (!(await this.#mayGoOn())) return;
      try {
        await this.#look(
          label,
          id,
          rows.find((row) => row.id === id),
        );
      } catch (error) {
        if (!signal.aborted) this.#options.notice({ kind: 'steering failed', endpoint: label, error });
      }
    }
  }

  /** Bounds are what allows to move something; what is under way is settled without them too. */
  #concerns(label: string): boolean {
    return this.#boundsOf(label) !== undefined || isUnderWay(this.#known.get(label)?.state.change);
  }

  /** What may begin: undefined of one that bounds do not name, and of all where nothing would be left of it. */
  #boundsOf(label: string): Bounds | undefined {
    return this.#options.watch.isKept ? boundsOf(this.#settings.bounds, label) : undefined;
  }

  #sayUnwatched(): void {
    const { watch } = this.#options;
    if (!this.#settings.apply) this.#sayAllBut([]);
    // As long as the service has not said which there are, nobody knows.
    else if (watch.isListed()) this.#sayAllBut(watch.watched().map(({ label }) => label));
  }

  /** Once each: harm that it does is seen by nobody then. */
  #sayAllBut(watched: readonly string[]): void {
    for (const [label, known] of this.#known.all()) {
      const { change } = known.state;
      const isLeft = isUnderWay(change) && !watched.includes(label);
      if (isLeft && !known.isLeft)
        this.#options.notice({ kind: 'change unwatched', endpoint: label, change });
      known.isLeft = isLeft;
    }
  }

  /** What another replica has done meanwhile is gone on from, as after a start. */
  async #readStored(): Promise<void> {
    const { watch, mayAct, clock } = this.#options;
    if (mayAct()) await watch.isSteeringCurrent(STORE_MS, this.#stopping.signal);
    if (await this.#known.read()) this.#sinceMs = clock.now();
  }

  /** Whether this replica may act, by what is stored by now. */
  async #mayGoOn(): Promise<boolean> {
    const { watch, mayAct } = this.#options;
    const { signal } = this.#stopping;
    if (!mayAct() || !(await watch.isSteeringCurrent(STORE_MS, signal))) return false;
    return !signal.aborted && mayAct() && this.#known.isCurrent;
  }

  async #look(label: string, id: number, row: ListedEndpoint | undefined): Promise<void> {
    const { watch, clock } = this.#options;
    const known = this.#known.of(label);
    const nowMs = Math.floor(clock.now());
    // A clock that was set back begins anew what it measures.
    this.#sinceMs = Math.min(this.#sinceMs, nowMs);
    const query = {
      endpoint: label,
      fromMs: evidenceFromMs(known.state, nowMs),
      toMs: nowMs,
      maxRows: MOST_ROWS,
    };
    const parameters = row && toldParameters(row);
    const isActive = !row?.endpoint_state || row.endpoint_state.toLowerCase() === 'active';
    const decision = decide(known.state, {
      nowMs,
      endpointId: id,
      sinceMs: this.#sinceMs,
      bounds: isActive ? (this.#boundsOf(label) ?? {}) : {},
      parameters,
      isActive,
      minutes: minutesOf(await watch.history(query)),
      advice: known.advice,
      workerPerformance: watch.workerPerformance(label),
    });
    known.holds = isActive ? decision.holds : `the endpoint is ${row.endpoint_state}`;
    await this.#carryOut(label, id, known, decision);
    if (decision.wantsAdvice && row) this.#advising.ask(known, this.#questionOf(label, known, row, nowMs));
  }

  async #carryOut(
    label: string,
    id: number,
    known: SteeredEndpoint,
    { state, send }: Decision,
  ): Promise<void> {
    const isStored = await this.#keep(label, known, state);
    if (!send) return;
    // What goes back is in the journal since it went out, and waits for no disk; but another may have sent it, and more.
    const isReturn = state.change?.phase === 'returning';
    if (!isStored && !(isReturn && (await this.#mayGoOn()))) return;
    if (this.#stopping.signal.aborted || !this.#options.mayAct()) return;
    await this.#send(label, id, known, send);
  }

  async #send(label: string, id: number, known: SteeredEndpoint, values: Some): Promise<void> {
    const { service, watch, clock } = this.#options;
    const { signal } = this.#stopping;
    const answer = await within(clock, ANSWER_MS, signal, (either) =>
      service.update(id, values, either),
    ).then(
      () => ({ kind: 'taken', words: '' }) as const,
      (error: unknown) => service.answerOf(error),
    );
    watch.lookAgain();
    await this.#keep(label, known, answered(known.state, answer, Math.floor(clock.now())));
  }

  /** @returns Whether it is stored. What is not is what counts all the same: it is read back what came of it. */
  async #keep(label: string, known: SteeredEndpoint, state: SteeringState): Promise<boolean> {
    const { watch, notice } = this.#options;
    // Another has stored something since: this would be put in its place.
    if (!this.#known.isCurrent) return false;
    const before = known.state;
    known.state = state;
    if (state.change) known.journal = setIn(known.journal, state.change).slice(-JOURNAL_SHOWN);
    if (known.stored !== state) {
      try {
        await watch.recordSteering({ label, state }, STORE_MS, this.#stopping.signal);
        known.stored = state;
      } catch (error) {
        if (!this.#known.isCurrent) return false;
        if (!this.#stopping.signal.aborted) notice({ kind: 'steering failed', endpoint: label, error });
      }
    }
    for (const each of noticesOf(label, before, state)) notice(each);
    return known.stored === state;
  }

  #questionOf(label: string, { state }: SteeredEndpoint, row: ListedEndpoint, nowMs: number): AdviceQuestion {
    const workerPerformance = this.#options.watch.workerPerformance(label);
    return {
      endpoint: label,
      nowMs,
      // The model needs all of them. None moves that is not told.
      parameters: numericParameters(row),
      parametersSinceMs: parametersSinceMs(state),
      reach: reachOf(toldParameters(row), boundsOf(this.#settings.bounds, label) ?? {}, workerPerformance),
      workerPerformance,
    };
  }
}
