/** What the engine of an endpoint does, told in the log of the endpoint and in those of its worker groups. */
import type { Observation } from '../../../scaling/planner/model/demand.ts';
import type { Decision } from '../../../scaling/planner/model/observer.ts';
import type { PlanSettings } from '../../../scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../../scaling/rules/findings.ts';
import type { WorkerLife, WorkerRecord } from '../../state/endpoints/workers.ts';
import { noteDetail, noteEvent } from '../events.ts';
import type { Site } from '../site.ts';
import { observationText, wishText } from './decision-text.ts';
import { writeError, writeStart } from './log-life.ts';

export class Chronicle {
  readonly #site: Site;
  /** The one that is being carried out. */
  #decision: { readonly decision: Decision; readonly moves: string[] } | undefined;

  constructor(site: Site) {
    this.#site = site;
  }

  looked(observed: Observation, atMs: number): void {
    const idle = observed.load === 0 && observed.waitingRequests === 0;
    if (!idle) noteDetail(this.#site.endpoint, observationText(observed), atMs);
  }

  /** What is said from now on is part of it. */
  decided(decision: Decision): void {
    this.#decision = { decision, moves: [] };
  }

  /** One that moved nothing is not told. */
  carriedOut(parameters: ResolvedParameters, settings: PlanSettings, atMs: number): void {
    const { decision, moves } = this.#decision ?? {};
    this.#decision = undefined;
    if (!decision || !moves || moves.length === 0) return;
    const why = wishText(decision, parameters, settings);
    const seen = observationText(decision.observed);
    noteEvent(this.#site.endpoint, `${moves.join(', ')}: ${why}; ${seen}`, atMs);
  }

  /** Part of the decision that is being carried out, or by itself. */
  say(text: string, atMs: number): void {
    if (this.#decision) this.#decision.moves.push(text);
    else noteEvent(this.#site.endpoint, text, atMs);
  }

  /**
   * A worker has gone from one phase of its life to another; with it, what it writes to its log.
   * @param halted by somebody else than the engine
   */
  moved({ id, groupId, life }: WorkerRecord, before: WorkerLife, halted: boolean, atMs: number): void {
    const started =
      before.phase === 'creating' || before.phase === 'starting' || before.phase === 'rebooting';
    const seconds = (atMs - before.sinceMs) / 1000;
    const isIdleAtOnce = life?.phase === 'cold' && before.phase === 'creating' && !halted;
    if (life?.phase === 'ready' && before.phase === 'draining') this.say(`calls ${id} back`, atMs);
    else if (life?.phase === 'ready') this.say(`${id} is ready after ${seconds} s (${before.phase})`, atMs);
    else if (life?.phase === 'starting') this.say(`starts ${id} from cold`, atMs);
    else if (life?.phase === 'draining') this.say(`stops ${id} once it has done what it has`, atMs);
    else if (isIdleAtOnce) {
      this.say(`${id} is there after ${seconds} s and not wanted now: it stops`, atMs);
    } else if (life?.phase === 'cold') this.say(`stops ${id}`, atMs);
    const isUp = life?.phase === 'ready' || isIdleAtOnce;
    const group = this.#site.state.workerGroups.get(groupId);
    if (group && started && isUp) writeStart(group, id, before.sinceMs, atMs);
  }

  died(id: number, lost: number, atMs: number): void {
    this.say(`${id} has died, and ${lost} requests with it`, atMs);
  }

  erred({ id, groupId }: WorkerRecord, lost: number, atMs: number): void {
    const group = this.#site.state.workerGroups.get(groupId);
    if (group) writeError(group, id, atMs);
    this.say(`${id} has erred, lost ${lost} requests and reboots`, atMs);
  }
}
