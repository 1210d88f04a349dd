/** What is known of a group between two polls, and what a poll brings. */
import type { TailAnswer } from '../answer.ts';
import type { RecordNumbers } from '../numbering.ts';
import type { Pace } from '../rate.ts';
import type { LogRecord } from '../../record.ts';
import type { SizeLimit } from '../size-limit.ts';
import type { Stream } from '../stream.ts';
import type { TailText } from '../tail-text.ts';
import type { Past, StoredPiece } from '../view/past.ts';

/** all: everything that the service still has when the group is first seen. end: only what comes after. */
export type LogStart = 'all' | 'end';

/** How far the group's log was taken. */
export interface GroupProgress extends RecordNumbers {
  /** The most lines that the service has been found to give; MAX_TAIL until it is found to give fewer. */
  readonly ceiling: number;
  /** Lately: what a gap is estimated from. 0 until it is known. */
  readonly linesPerSecond: number;
  /** How much one answer may hold, where the service has been found to have a limit. */
  readonly sizeLimit?: SizeLimit | undefined;
  /** Characters, of the last answer. */
  readonly bytesPerLine?: number | undefined;
  /** By level; the one stream of a plain text is PLAIN. */
  readonly streams: Readonly<Record<string, Stream>>;
  /** That told too little, oldest first, while more is asked for. Where more does not come they are what there is. */
  readonly unsettled?: readonly TextPoll[] | undefined;
  /** By level: lines that were delivered beside the window lately. */
  readonly passed?: Readonly<Record<string, readonly StoredPiece[]>> | undefined;
}

/** By level. */
export type Texts = readonly (readonly [level: string, text: TailText])[];

/** A poll that brought text. */
export interface TextPoll extends Pick<PollResult, 'tail' | 'now' | 'roundTripMs'> {
  readonly texts: Texts;
}

/** What is wanted, where less is asked for at first. */
export interface Widened {
  readonly tail: number;
  /** So long a tail is needed; not where a shorter one only showed an older view of the log. */
  readonly isNeeded: boolean;
}

export interface GroupState {
  readonly workergroupId: number;
  readonly start: LogStart;
  readonly progress: GroupProgress;
  /** An answer with text, if only an empty one, was seen: what comes from here on is new. */
  readonly begun: boolean;
  /** Lines were taken before of which nothing is known any more: the next text begins with a gap. */
  readonly forgotten: boolean;
  readonly pace: Pace;
  /** Unix milliseconds of the last answer that was a log; undefined until there is one in this process. */
  readonly takenAt?: number;
  /** Unix milliseconds of the last answer, in this process, that brought lines. */
  readonly broughtAt?: number;
  /** The last answer was too small to tell, or polls fail and less than this comes through. */
  readonly widened?: Widened;
  /** Lines that the last answer was asked for; Infinity where it was the whole log. */
  readonly answeredTail?: number;
  /** The shortest that failed since as long a one came through, as one that is too large may. */
  readonly suspectedTail?: number;
  /** What the last failure says of the size of answers, if a shorter one comes through next. */
  readonly supposedLimit?: SizeLimit | undefined;
  /** By level, what slid out of the windows lately. */
  readonly past?: Readonly<Record<string, Past>>;
  /** Errors in a row. */
  readonly failures: number;
}

export interface PollResult {
  readonly answer: TailAnswer;
  /** Lines that were asked for. */
  readonly tail: number;
  /** Unix milliseconds at which the answer came. */
  readonly now: number;
  readonly roundTripMs: number;
  /** In [0, 1), for the jitter of a backoff. */
  readonly random: number;
}

export interface NextPoll {
  readonly tail: number;
  /** Milliseconds from now; 0: at once. */
  readonly delayMs: number;
}

export interface Step {
  readonly state: GroupState;
  readonly records: readonly LogRecord[];
  /** There is something to store: records, or lines that came into a window without being delivered. */
  readonly moved: boolean;
  /** The answer was an older view of the log: nothing was taken of it. */
  readonly stale?: boolean;
  readonly next: NextPoll;
}

export interface Beginning {
  readonly workergroupId: number;
  readonly start: LogStart;
  /** What the spool kept of the group. */
  readonly progress?: GroupProgress | undefined;
  /** Without progress: the epoch to begin with, when what was known of earlier ones is lost. */
  readonly epochAfterLoss?: number | undefined;
}
