/**
 * What version 0.1 stored of a group, taken over. It kept the text of the known lines: some as they were, the older ones
 * deflated in blocks, and of a long line its hash, its length and its end.
 */
import { inflateRawSync } from 'node:zlib';
import { isRecord } from '../../contract/is-record.ts';
import type { GroupProgress } from '../follower/group.ts';
import { EMPTY_STREAM, type Stream } from '../follower/stream.ts';
import { hashOf } from '../text.ts';

interface OldProgress {
  readonly epoch: number;
  readonly seq: number;
  readonly time?: number;
  readonly linesPerSecond?: number;
  readonly bytesPerLine?: number;
  readonly streams: Readonly<Record<string, OldStream>>;
}

interface OldStream {
  readonly from: number;
  readonly endsLines?: boolean;
  readonly pending?: {
    readonly text: string;
    readonly since: number;
    readonly taken?: number;
    readonly delivered?: boolean;
  };
}

/** What stands in front of a long line's hash. */
const MARK = '\u0001';

/** Later versions store of each stream whether its window is whole. */
export function isOldProgress(stored: unknown): stored is OldProgress {
  if (!isRecord(stored) || !isRecord(stored['streams'])) return false;
  const { epoch, seq, streams } = stored;
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const isOldStream = (one: unknown) => isRecord(one) && isCount(one['from']) && !('isWhole' in one);
  return [epoch, seq].every(isCount) && Object.values(streams).every(isOldStream);
}

/** @param linesOf The known lines of a level, as they were stored. */
export function takenOver(
  { epoch, seq, time = 0, linesPerSecond = 0, bytesPerLine = 100, streams }: OldProgress,
  linesOf: (level: string) => readonly string[],
): GroupProgress {
  const taken = Object.entries(streams).map(([level, { endsLines = false, pending }]): [string, Stream] => {
    const hashes = Float64Array.from(linesOf(level), hashOfKept);
    const begun = pending && {
      text: pending.text,
      since: pending.since,
      taken: pending.taken ?? (pending.delivered ? pending.text.length : 0),
    };
    return [
      level,
      { ...EMPTY_STREAM, isWhole: false, window: { from: 0, hashes }, endsLines, pending: begun },
    ];
  });
  const rate = linesPerSecond > 0 ? linesPerSecond : undefined;
  return { epoch, seq, time, linesPerSecond: rate, bytesPerLine, streams: Object.fromEntries(taken) };
}

/** @throws SyntaxError when a block cannot be unpacked. */
export function unpackedLines(block: unknown): readonly string[] {
  if (!(block instanceof Uint8Array)) throw new SyntaxError('a block of log lines is not binary');
  try {
    return inflateRawSync(block).toString().split('\n');
  } catch (cause) {
    throw new SyntaxError('a block of log lines cannot be unpacked', { cause });
  }
}

function hashOfKept(line: string): number {
  if (!line.startsWith(MARK)) return hashOf(line);
  return Number(line.slice(MARK.length).split(' ')[0]);
}
