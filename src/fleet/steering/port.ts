/** What steering needs of others: the service, the watch that keeps the history, and advice. */
import type { Advice } from '../../scaling/advice/advice.ts';
import type { BoundsByEndpoint } from '../../scaling/autotune/bounds.ts';
import type { Answer } from '../../scaling/autotune/decide.ts';
import type { Reach } from '../../scaling/autotune/reach.ts';
import type { Change, Numbers, Outcome, Some } from '../../scaling/autotune/state.ts';
import type { ListedEndpoint } from '../discovery/knowledge.ts';
import type { StoredSteering } from '../history/store.ts';
import type { HistoryQuery, HistoryRow } from '../history/row.ts';

export interface SteeringSettings {
  /** False: nothing is changed, and what was under way stays where it is. */
  readonly apply: boolean;
  readonly bounds: BoundsByEndpoint;
}

export interface SteeredService {
  endpoints(signal: AbortSignal): Promise<readonly ListedEndpoint[]>;
  update(endpointId: number, parameters: Some, signal: AbortSignal): Promise<void>;
  /** What an error of `update` says: that it was refused, or nothing. */
  answerOf(error: unknown): Answer;
}

export interface SteeredWatch {
  /** Whether what is recorded outlives this process: the next one has to know what it is to put back. */
  readonly isKept: boolean;
  watched(): readonly { readonly label: string; readonly id: number }[];
  /** Whether the service has said which endpoints there are: what is not watched then is not there, or not wanted. */
  isListed(): boolean;
  /** What earlier processes stored, or another replica since: then it is another list. Undefined while that could not be read. */
  storedSteering(): readonly StoredSteering[] | undefined;
  /**
   * Whether this replica may write, and nobody else has stored anything since: what another has is read first, if that is done
   * within so many ms. False where nobody can say.
   */
  isSteeringCurrent(withinMs: number, signal: AbortSignal): Promise<boolean>;
  /** @throws Where it is not stored soon. */
  recordSteering(steering: StoredSteering, withinMs: number, signal: AbortSignal): Promise<void>;
  journal(label: string, most: number): Promise<readonly Change[]>;
  history(query: HistoryQuery): Promise<readonly HistoryRow[]>;
  /** Units/s that one worker was measured to do: the middle of all; undefined while none was. */
  workerPerformance(label: string): number | undefined;
  /** Parameters were changed. */
  lookAgain(): void;
}

/** Which set, one step from today's at most, is cheaper and keeps the limit. */
export interface AdviceQuestion {
  readonly endpoint: string;
  readonly nowMs: number;
  readonly parameters: Numbers;
  /** Since when they are these, where it is known, Unix ms. */
  readonly parametersSinceMs: number | undefined;
  readonly reach: Reach;
  readonly workerPerformance: number | undefined;
}

export type AskAdvice = (question: AdviceQuestion, signal: AbortSignal) => Promise<Advice>;

export type SteeringNotice =
  | { readonly kind: 'parameters steered'; readonly endpoint: string; readonly change: Change }
  | {
      readonly kind: 'steering ended';
      readonly endpoint: string;
      readonly change: Change;
      readonly outcome: Outcome;
    }
  | { readonly kind: 'old values go back'; readonly endpoint: string; readonly change: Change }
  | { readonly kind: 'old values refused'; readonly endpoint: string; readonly change: Change }
  | { readonly kind: 'changed by hand'; readonly endpoint: string }
  /** It is under way, and its endpoint is not watched any more, or nothing is to be changed. */
  | { readonly kind: 'change unwatched'; readonly endpoint: string; readonly change: Change }
  | { readonly kind: 'steering failed'; readonly endpoint: string | undefined; readonly error: unknown };

/** A change of it is under way, and nobody sees what comes of it. */
export interface UnwatchedEndpoint {
  readonly endpoint: string;
  readonly steering: SteeringView;
}

/** As others see it. */
export interface SteeringView {
  /** Why nothing new moves, in words; undefined before the first look, and where something just did. */
  readonly holds: string | undefined;
  /** Nothing new moves before, Unix ms; undefined without a pause. */
  readonly pausedUntilMs: number | undefined;
  /** What steering wants the service to have; empty where it never changed anything. */
  readonly wanted: Some;
  /** The last changes, earliest first. */
  readonly journal: readonly Change[];
}
