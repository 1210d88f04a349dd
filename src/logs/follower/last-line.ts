/**
 * The last line of a log while it has no end. If the service ends its lines, this line waits until it is ended. If the
 * service never ends the last line, it counts when another line follows, or when it has rested.
 */
import { standalone, type Text } from '../text.ts';

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
  /** Index of the line that is only the rest of one that was delivered in part. */
  readonly continues?: number | undefined;
}

export interface LastLine extends Lines {
  readonly pending?: Pending | undefined;
}

/** Milliseconds without change, beside one interval, after which the line counts. */
const REST_MS = 5_000;

export function pendingOf({ unended }: Text, now: number, taken = 0): Pending | undefined {
  return unended === '' ? undefined : { text: standalone(unended), taken, since: now };
}

function begun({ text, taken }: Pending): string {
  return text.slice(0, taken);
}

/**
 * After an answer that brought lines.
 *
 * @param fresh The new lines. The pending line may be one of them, now ended.
 * @param isLonger Some of them stand behind all lines known before.
 */
export function followed(
  pending: Pending | undefined,
  fresh: readonly string[],
  isLonger: boolean,
  { text, now }: { readonly text: Text; readonly now: number },
): LastLine {
  const { found, ...delivered } = withoutBegun(pending, fresh);
  if (!isLonger) return { ...delivered, pending: found ? undefined : pending };
  const goesOn =
    !found && pending !== undefined && pending.taken > 0 && text.unended.startsWith(begun(pending));
  return { ...delivered, pending: pendingOf(text, now, goesOn ? pending.taken : 0) };
}

/** What was delivered of the pending line is not delivered again. */
export function withoutBegun(
  pending: Pending | undefined,
  fresh: readonly string[],
): Lines & { readonly found: boolean } {
  const start = pending === undefined || pending.taken === 0 ? undefined : begun(pending);
  const at = start === undefined ? -1 : fresh.findIndex((line) => line.startsWith(start));
  if (at < 0 || start === undefined) return { lines: fresh, found: false };
  const rest = (fresh[at] ?? '').slice(start.length);
  if (rest === '') return { lines: fresh.toSpliced(at, 1), found: true };
  return { lines: fresh.with(at, rest), continues: at, found: true };
}

/** After an answer that ends where the known lines end. */
export function rested(
  pending: Pending | undefined,
  { unended }: Text,
  { endsLines, now, intervalMs }: { endsLines: boolean; now: number; intervalMs: number },
): LastLine {
  if (pending === undefined) {
    const first = unended === '' ? undefined : { text: standalone(unended), taken: 0, since: now };
    return { lines: [], pending: first };
  }
  const { text, taken, since } = pending;
  // An older view has less of the line, or nothing.
  if (unended !== text && text.startsWith(unended)) return { lines: [], pending };
  if (unended !== text) {
    const kept = unended.startsWith(begun(pending)) ? taken : 0;
    return { lines: [], pending: { text: standalone(unended), taken: kept, since: now } };
  }
  if (endsLines || taken >= text.length || now - since < intervalMs + REST_MS) return { lines: [], pending };
  return {
    lines: [text.slice(taken)],
    ...(taken > 0 && { continues: 0 }),
    pending: { ...pending, taken: text.length },
  };
}

/** The line will not be ended by this service within moments. */
export function isWaiting({
  pending,
  endsLines,
}: {
  readonly pending?: Pending | undefined;
  readonly endsLines: boolean;
}): boolean {
  return pending !== undefined && !endsLines && pending.taken < pending.text.length;
}
