/**
 * How far each group was followed, in the spool's database. A window is stored as it is held: its
 * blocks are rows, and so are its recent lines, numbered by their place in the stream. A poll adds the
 * new ones and removes those that slid out or were packed, and never writes the other thousands again.
 */
import type { DatabaseSync } from 'node:sqlite';
import { isRecord } from '../../contract/is-record.ts';
import { UnreadableFile } from '../../storage/database-file.ts';
import type { GroupProgress } from '../tail/group.ts';
import type { Stream } from '../tail/stream.ts';
import { nextPlace, restoredWindow, type Block, type LineWindow } from '../tail/window.ts';

/** Of JavaScript, Unix ms. */
const LATEST_DATE = 8_640_000_000_000_000;

type StoredStream = Omit<Stream, 'window'> & { readonly from: number };
type StoredProgress = Omit<GroupProgress, 'streams'> & {
  readonly streams: Readonly<Record<string, StoredStream>>;
};

export class ProgressStore {
  readonly #statements;

  constructor(db: DatabaseSync) {
    this.#statements = {
      get: db.prepare('SELECT body FROM progress WHERE workergroup_id = ?'),
      put: db.prepare('INSERT OR REPLACE INTO progress VALUES (?, ?)'),
      lines: db.prepare(
        'SELECT line FROM window_line WHERE workergroup_id = ? AND level = ? ORDER BY ordinal',
      ),
      nextLine: db.prepare(
        'SELECT max(ordinal) + 1 AS next FROM window_line WHERE workergroup_id = ? AND level = ?',
      ),
      slideLines: db.prepare(
        'DELETE FROM window_line WHERE workergroup_id = ? AND level = ? AND ordinal < ?',
      ),
      addLine: db.prepare('INSERT INTO window_line VALUES (?, ?, ?, ?)'),
      blocks: db.prepare(
        'SELECT ordinal, lines, packed FROM window_block WHERE workergroup_id = ? AND level = ? ORDER BY ordinal',
      ),
      nextBlock: db.prepare(
        'SELECT max(ordinal + lines) AS next FROM window_block WHERE workergroup_id = ? AND level = ?',
      ),
      slideBlocks: db.prepare(
        'DELETE FROM window_block WHERE workergroup_id = ? AND level = ? AND ordinal + lines <= ?',
      ),
      clearLines: db.prepare('DELETE FROM window_line WHERE workergroup_id = ?'),
      clearBlocks: db.prepare('DELETE FROM window_block WHERE workergroup_id = ?'),
      addBlock: db.prepare('INSERT INTO window_block VALUES (?, ?, ?, ?, ?)'),
    };
  }

  /** @throws SyntaxError or UnreadableFile when what is stored cannot be read. */
  read(workergroupId: number): GroupProgress | undefined {
    const body = this.#statements.get.get(workergroupId)?.['body'];
    if (body === undefined) return undefined;
    const stored: unknown = JSON.parse(String(body));
    if (!isProgress(stored))
      throw new UnreadableFile(`what is stored of worker group ${workergroupId} is none`);
    const { streams, ...rest } = stored;
    return {
      ...rest,
      streams: Object.fromEntries(
        Object.entries(streams).map(([level, { from, ...stream }]) => {
          return [level, Object.assign(stream, { window: this.#readWindow(workergroupId, level, from) })];
        }),
      ),
    };
  }

  /** Where what is stored may be of other numbers: a window that began elsewhere goes on from nothing that is here. */
  replace(workergroupId: number, progress: GroupProgress): void {
    this.#statements.clearLines.run(workergroupId);
    this.#statements.clearBlocks.run(workergroupId);
    this.write(workergroupId, progress);
  }

  write(workergroupId: number, { streams, ...rest }: GroupProgress): void {
    const stored: Record<string, StoredStream> = {};
    for (const [level, { window, ...stream }] of Object.entries(streams)) {
      stored[level] = { ...stream, from: window.from };
      this.#writeWindow(workergroupId, level, window);
    }
    const body: StoredProgress = { ...rest, streams: stored };
    this.#statements.put.run(workergroupId, JSON.stringify(body));
  }

  #readWindow(workergroupId: number, level: string, from: number): LineWindow {
    const { blocks, lines } = this.#statements;
    return restoredWindow(
      from,
      blocks.all(workergroupId, level).map(blockOf),
      lines.all(workergroupId, level).map(({ line }) => String(line)),
    );
  }

  #writeWindow(workergroupId: number, level: string, window: LineWindow): void {
    const { slideBlocks, nextBlock, addBlock, slideLines, nextLine, addLine } = this.#statements;
    slideBlocks.run(workergroupId, level, window.from);
    const packedTo = Number(nextBlock.get(workergroupId, level)?.['next'] ?? 0);
    for (const { first, count, packed } of window.blocks) {
      if (first >= packedTo) addBlock.run(workergroupId, level, first, count, packed);
    }
    const recentFrom = nextPlace(window) - window.recent.length;
    slideLines.run(workergroupId, level, recentFrom);
    const next = Number(nextLine.get(workergroupId, level)?.['next'] ?? recentFrom);
    for (const [index, line] of window.recent.entries()) {
      if (recentFrom + index >= next) addLine.run(workergroupId, level, recentFrom + index, line);
    }
  }
}

/** Numbers that are none would go out with each line, or end each poll: what nobody here has written is not gone on from. */
function isProgress(stored: unknown): stored is StoredProgress {
  if (!isRecord(stored) || !isRecord(stored['streams'])) return false;
  const { epoch, seq, time = 0, ceiling = 0, linesPerSecond = 0, streams } = stored;
  const { bytesPerLine, sizeLimit = {}, unsettled = [], passed = {} } = stored;
  const numbers = [time, linesPerSecond, bytesPerLine ?? 0];
  return (
    [epoch, seq, ceiling].every(isCount) &&
    numbers.every((number) => typeof number === 'number') &&
    isFlat(sizeLimit) &&
    Array.isArray(unsettled) &&
    unsettled.every(isPoll) &&
    isRecord(passed) &&
    Object.values(passed).every((pieces) => Array.isArray(pieces) && pieces.every(isPiece)) &&
    Object.values(streams as object).every(isStream)
  );
}

function isPoll(poll: unknown): boolean {
  if (!isRecord(poll) || !Array.isArray(poll['texts'])) return false;
  const { tail, now, roundTripMs, texts } = poll;
  return (
    isCount(tail) &&
    isCount(now) &&
    (now as number) <= LATEST_DATE &&
    typeof roundTripMs === 'number' &&
    texts.every((text) => Array.isArray(text) && isText(text[1]))
  );
}

function isPiece(piece: unknown): boolean {
  if (!isRecord(piece) || !Array.isArray(piece['hashes'])) return false;
  return [piece['at'], ...piece['hashes']].every((number) => typeof number === 'number');
}

function isText(text: unknown): boolean {
  if (!isRecord(text) || !Array.isArray(text['lines'])) return false;
  return [...text['lines'], text['unended'] ?? ''].every((line) => typeof line === 'string');
}

function isStream(stream: unknown): boolean {
  if (!isRecord(stream) || !isCount(stream['from'])) return false;
  const { shown, size, cutAt, pending, departed } = stream;
  const isLine = (line: unknown) => line === undefined || (isFlat(line) && typeof line['text'] === 'string');
  return isLine(pending) && isLine(departed) && isFlat({ shown, size, cutAt });
}

/** A record without anything in it that holds something else. */
function isFlat(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.values(value).every((one) => one === null || typeof one !== 'object');
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function blockOf({ ordinal, lines, packed }: Record<string, unknown>): Block {
  if (!(packed instanceof Uint8Array)) throw new SyntaxError('a block of log lines is no bytes');
  return { first: Number(ordinal), count: Number(lines), packed };
}
