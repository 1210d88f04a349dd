/**
 * The last line of a log while it has no end. If the service ends its lines, this line waits until it is ended. If the
 * service never ends the last line, it counts when another line follows, or when it has rested.
 */
import { standalone, type Text } from '../answer.ts';

export interface Pending {
  readonly text: string;
  /** So many characters of it were delivered. */
  readonly taken: number;
  /** Unix milliseconds at which it was first seen with this text. */
  readonly since: number;
}

/** Lines to deliver. */
export interface Lines {
  readonly lines: readonly string[];
  /** Index of a line that is only the rest of a line delivered in part. */
  readonly continues?: number | undefined;
}

interface LastLine extends Lines {
  readonly pending?: Pending | undefined;
}

/** Milliseconds without change, beside one interval, after which the line counts. */
const REST_MS = 5_000;

/** @param before What it has grown from, perhaps. */
export function pendingOf({ unended }: Text, now: number, before?: Pending): Pending | undefined {
  const taken = before !== undefined && unended.startsWith(begun(before)) ? before.taken : 0;
  return unended === '' ? undefined : { text: standalone(unended), taken, since: now };
}

function begun({ text, taken }: Pending): string {
  return text.slice(0, taken);
}

/**
 * @param fresh The new lines. The pending line may be one of them, now ended.
 * @param isLonger Some of them stand behind all lines known before.
 */
export function lastLineAfter(
  before: Pending | undefined,
  fresh: readonly string[],
  isLonger: boolean,
  sighting: {
    readonly text: Text;
    readonly endsLines: boolean;
    readonly now: number;
    readonly intervalMs: number;
  },
): LastLine {
  const { text, endsLines, now, intervalMs } = sighting;
  const { isEnded, ...delivered } = withoutBegun(before, fresh);
  const known = isEnded ? undefined : before;
  // An older view has less of the line, or nothing.
  const isOlder = !isLonger && known?.text.startsWith(text.unended);
  const pending = isOlder ? known : pendingOf(text, now, known);
  if (pending === undefined) return delivered;
  const hasRested = text.unended === pending.text && now - pending.since >= intervalMs + REST_MS;
  if (!hasRested || !isWaiting(pending, endsLines)) return { ...delivered, pending };
  return {
    lines: [...delivered.lines, pending.text.slice(pending.taken)],
    continues: pending.taken > 0 ? delivered.lines.length : delivered.continues,
    pending: { ...pending, taken: pending.text.length },
  };
}

/** The delivered part of the pending line is not delivered again. */
export function withoutBegun(
  pending: Pending | undefined,
  fresh: readonly string[],
): Lines & { readonly isEnded: boolean } {
  const start = pending === undefined ? '' : begun(pending);
  const at = fresh.findIndex((line) => line.startsWith(start));
  if (start === '' || at < 0) return { lines: fresh, isEnded: false };
  const rest = (fresh[at] ?? '').slice(start.length);
  if (rest === '') return { lines: fresh.toSpliced(at, 1), isEnded: true };
  return { lines: fresh.with(at, rest), continues: at, isEnded: true };
}

/** The line will not be ended by this service within moments. */
export function isWaiting(pending: Pending | undefined, endsLines: boolean): boolean {
  return pending !== undefined && !endsLines && pending.taken < pending.text.length;
}
