/**
 * The service wipes a log file when it is full. Each wipe bounds the size at which that happens: the file was larger than
 * at the last answer before, and smaller than the rate could make it.
 */
export interface Wipes {
  /** The size lies between these, in bytes; `high` is null if no rate was known. */
  readonly low: number;
  readonly high: number | null;
  /** Wipes that agree on it. */
  readonly count: number;
}

/** What of a stream it needs. */
interface LogFile {
  readonly size?: number | undefined;
  readonly wipes?: Wipes | undefined;
  readonly window: { readonly hashes: { readonly length: number } };
}

/** Wipes that must agree before the size counts as known. */
const ENOUGH = 2;
/** What the rate lets expect may be off by this factor. */
const MARGIN = 1.5;
/** A file ends with a whole line, so wipes differ by a line or so. */
const SLACK = 0.02;

/**
 * What a reset tells about the size.
 *
 * @param after Lines that the rate lets expect since the answer before, and those of the new file.
 */
export function withReset(
  { size, wipes, window }: LogFile,
  after: { readonly expected: number | undefined; readonly lines: number },
): Wipes | undefined {
  if (size === undefined || size === 0) return wipes;
  const { expected, lines } = after;
  const more = expected === undefined ? undefined : Math.max(0, MARGIN * expected - lines);
  const perLine = size / Math.max(1, window.hashes.length);
  const high = more === undefined ? null : size + (more + 1) * perLine;
  const before = wipes?.high ?? Infinity;
  if (wipes === undefined || size > before * (1 + SLACK) || (high ?? Infinity) < wipes.low * (1 - SLACK))
    return { low: size, high, count: 1 };
  const low = Math.max(wipes.low, size);
  const least = Math.min(before, high ?? Infinity);
  return { low, high: least === Infinity ? null : Math.max(low, least), count: wipes.count + 1 };
}

export function isWipeKnown({ size, wipes }: LogFile): boolean {
  if (size === undefined || wipes === undefined || wipes.high === null || wipes.count < ENOUGH) return false;
  // Far from full, the log began again for another reason.
  return size >= wipes.low / 2 && size <= wipes.high * (1 + SLACK);
}

/** Lines that fit between the last answer and the wipe. */
export function wipeLoss({ size = 0, wipes, window }: LogFile): number {
  const full = wipes === undefined || wipes.high === null ? size : (wipes.low + wipes.high) / 2;
  const perLine = Math.max(1, size / Math.max(1, window.hashes.length));
  return Math.max(0, Math.round((full - size) / perLine));
}

/**
 * Milliseconds until the file may be wiped; Infinity if that is not known.
 *
 * @param bytesPerSecond How fast it grows.
 */
export function wipeInMs({ size, wipes }: LogFile, bytesPerSecond: number): number {
  if (size === undefined || wipes === undefined || wipes.count < ENOUGH || bytesPerSecond <= 0)
    return Infinity;
  return (1_000 * Math.max(0, wipes.low - size)) / bytesPerSecond;
}
