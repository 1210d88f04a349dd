/** How far a group was followed, as JSON in Redis. */
import { isRecord } from '../../contract/is-record.ts';
import type { GroupProgress } from '../../logs/follower/group.ts';
import type { Stream, Window } from '../../logs/follower/stream.ts';

export type StoredProgress = Omit<GroupProgress, 'streams'> & {
  readonly streams: Readonly<Record<string, Omit<Stream, 'window'> & { readonly from: number }>>;
};

/** As JSON: windows are stored beside it. */
export function withoutWindows({ streams, ...rest }: GroupProgress): StoredProgress {
  const stored = Object.entries(streams).map(([level, { window, ...stream }]) => [
    level,
    { ...stream, from: window.from },
  ]);
  return { ...rest, streams: Object.fromEntries(stored) as StoredProgress['streams'] };
}

export function withWindows(
  { streams, ...rest }: StoredProgress,
  windowOf: (level: string, from: number) => Window,
): GroupProgress {
  const whole = Object.entries(streams).map(([level, { from, ...stream }]) => [
    level,
    Object.assign(stream, { window: windowOf(level, from) }),
  ]);
  return { ...rest, streams: Object.fromEntries(whole) as GroupProgress['streams'] };
}

/** A wrong number would go out with each line, or end each poll: only what this version has written is read. */
export function isProgress(stored: unknown): stored is StoredProgress {
  if (!isRecord(stored) || !isRecord(stored['streams'])) return false;
  const {
    epoch,
    seq,
    time,
    bytesPerLine,
    linesPerSecond = 0,
    unit = 'lines',
    limit = {},
    depth = 0,
  } = stored;
  return (
    [epoch, seq].every(isCount) &&
    [time, bytesPerLine, linesPerSecond, depth].every((number) => typeof number === 'number') &&
    (unit === 'lines' || unit === 'bytes') &&
    isRecord(limit) &&
    Object.values(stored['streams']).every(isStream)
  );
}

function isStream(stream: unknown): boolean {
  if (!isRecord(stream)) return false;
  const { from, isWhole, last, endsLines, came, pending } = stream;
  return (
    isCount(from) &&
    typeof last === 'string' &&
    [isWhole, endsLines].every((flag) => typeof flag === 'boolean') &&
    Array.isArray(came) &&
    came.every((pair) => Array.isArray(pair) && pair.every((number) => typeof number === 'number')) &&
    (pending === undefined || isPending(pending))
  );
}

function isPending(pending: unknown): boolean {
  return isRecord(pending) && typeof pending['text'] === 'string' && isCount(pending['taken']);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
