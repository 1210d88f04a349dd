/**
 * How far each group was followed, in the spool's database. A window is stored by what was added: its hashes are rows of
 * many, numbered by the place of the first one. A poll adds the new ones and removes those that slid out.
 */
import type { DatabaseSync } from 'node:sqlite';
import { isRecord } from '../../contract/is-record.ts';
import { UnreadableFile } from '../../storage/database-file.ts';
import type { GroupProgress } from '../follower/group.ts';
import type { Stream, Window } from '../follower/stream.ts';
import type { SourceKey } from '../source.ts';
import { isOldProgress, takenOver, unpackedLines } from './old-progress.ts';

export type StoredProgress = Omit<GroupProgress, 'streams'> & {
  readonly streams: Readonly<Record<string, Omit<Stream, 'window'> & { readonly from: number }>>;
};

/** The last row is written again with what is added, until it has so many hashes. */
const ROW_HASHES = 512;

export class ProgressStore {
  readonly #statements;

  constructor(db: DatabaseSync) {
    const ofStream = 'WHERE workergroup_id = ? AND level = ?';
    this.#statements = {
      get: db.prepare('SELECT body FROM progress WHERE workergroup_id = ?'),
      put: db.prepare('INSERT OR REPLACE INTO progress VALUES (?, ?)'),
      rows: db.prepare(`SELECT ordinal, lines, hashes FROM window_hashes ${ofStream} ORDER BY ordinal`),
      last: db.prepare(`SELECT ordinal, lines FROM window_hashes ${ofStream} ORDER BY ordinal DESC LIMIT 1`),
      slide: db.prepare(`DELETE FROM window_hashes ${ofStream} AND ordinal + lines <= ?`),
      add: db.prepare('INSERT OR REPLACE INTO window_hashes VALUES (?, ?, ?, ?, ?)'),
      clear: db.prepare('DELETE FROM window_hashes WHERE workergroup_id = ?'),
      oldLines: db.prepare(`SELECT line FROM window_line ${ofStream} ORDER BY ordinal`),
      oldBlocks: db.prepare(`SELECT packed FROM window_block ${ofStream} ORDER BY ordinal`),
      clearOldLines: db.prepare('DELETE FROM window_line WHERE workergroup_id = ?'),
      clearOldBlocks: db.prepare('DELETE FROM window_block WHERE workergroup_id = ?'),
    };
  }

  /** @throws SyntaxError or UnreadableFile when what is stored cannot be read. */
  read(key: SourceKey): GroupProgress | undefined {
    const workergroupId = storedId(key);
    const body = this.#statements.get.get(workergroupId)?.['body'];
    if (body === undefined) return undefined;
    const stored: unknown = JSON.parse(String(body));
    if (isProgress(stored))
      return withWindows(stored, (level, from) => this.#window(workergroupId, level, from));
    if (isOldProgress(stored)) return takenOver(stored, (level) => this.#oldLines(workergroupId, level));
    throw new UnreadableFile(`the stored progress of ${key} cannot be read`);
  }

  /** If the stored window may have other numbers: nothing of it is kept. */
  replace(key: SourceKey, progress: GroupProgress): void {
    this.#statements.clear.run(storedId(key));
    this.write(key, progress);
  }

  write(key: SourceKey, progress: GroupProgress): void {
    const workergroupId = storedId(key);
    this.#statements.clearOldLines.run(workergroupId);
    this.#statements.clearOldBlocks.run(workergroupId);
    for (const [level, { window }] of Object.entries(progress.streams))
      this.#writeWindow(workergroupId, level, window);
    this.#statements.put.run(workergroupId, JSON.stringify(withoutWindows(progress)));
  }

  #window(workergroupId: number, level: string, from: number): Window {
    const hashes: number[] = [];
    let next = from;
    for (const row of this.#statements.rows.all(workergroupId, level)) {
      const [ordinal, lines, bytes] = [Number(row['ordinal']), Number(row['lines']), row['hashes']];
      if (!(bytes instanceof Uint8Array) || bytes.length !== 8 * lines || ordinal > next)
        throw new UnreadableFile('the hashes of a log window cannot be read');
      for (const hash of new Float64Array(bytes.slice().buffer).subarray(next - ordinal)) hashes.push(hash);
      next = ordinal + lines;
    }
    return { from, hashes: Float64Array.from(hashes) };
  }

  #writeWindow(workergroupId: number, level: string, { from, hashes }: Window): void {
    const { slide, last, add } = this.#statements;
    slide.run(workergroupId, level, from);
    const row = last.get(workergroupId, level);
    const [ordinal, lines] = [Number(row?.['ordinal'] ?? from), Number(row?.['lines'] ?? 0)];
    const end = from + hashes.length;
    if (ordinal + lines >= end) return;
    const start = lines < ROW_HASHES && ordinal >= from ? ordinal : Math.max(from, ordinal + lines);
    const added = hashes.slice(start - from);
    add.run(workergroupId, level, start, added.length, new Uint8Array(added.buffer));
  }

  #oldLines(workergroupId: number, level: string): readonly string[] {
    const { oldBlocks, oldLines } = this.#statements;
    const packed = oldBlocks.all(workergroupId, level).flatMap((row) => unpackedLines(row['packed']));
    return [...packed, ...oldLines.all(workergroupId, level).map(({ line }) => String(line))];
  }
}

/** Stored under a number, below 0 that of an endpoint. */
export function storedId(key: SourceKey): number {
  const [kind, id] = key.split('/');
  return kind === 'endpoint' ? -Number(id) : Number(id);
}

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
