/**
 * How far each log was followed, in the spool's database. Of a window, a poll adds the new hashes and removes those that
 * slid out. They stand in rows of many, numbered by the place of the first hash.
 */
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { UnreadableFile } from '../../storage/database-file.ts';
import type { GroupProgress } from '../follower/group.ts';
import type { Stream, Window } from '../follower/stream.ts';

/** As JSON. Windows have a table of their own. */
type StoredProgress = Omit<GroupProgress, 'streams'> & {
  readonly streams: Readonly<Record<string, Omit<Stream, 'window'> & { readonly from: number }>>;
};

/** The last row grows until it has so many. */
const ROW_HASHES = 512;
const HASH_BYTES = Float64Array.BYTES_PER_ELEMENT;

export class ProgressTable {
  readonly #sql;

  constructor(db: DatabaseSync) {
    const ofStream = 'WHERE source = ? AND level = ?';
    const end = `ordinal + length(hashes) / ${HASH_BYTES}`;
    this.#sql = {
      get: db.prepare('SELECT body, checksum FROM progress WHERE source = ?'),
      remove: db.prepare('DELETE FROM progress WHERE source = ?'),
      clear: db.prepare('DELETE FROM window WHERE source = ?'),
      put: db.prepare('INSERT OR REPLACE INTO progress (source, body, checksum) VALUES (?, ?, ?)'),
      rows: db.prepare(`SELECT ordinal, hashes FROM window ${ofStream} ORDER BY ordinal`),
      last: db.prepare(`SELECT ordinal, ${end} AS end FROM window ${ofStream} ORDER BY ordinal DESC LIMIT 1`),
      slide: db.prepare(`DELETE FROM window ${ofStream} AND ${end} <= ?`),
      add: db.prepare('INSERT OR REPLACE INTO window (source, level, ordinal, hashes) VALUES (?, ?, ?, ?)'),
    };
  }

  /** @throws SyntaxError or UnreadableFile if it is not what was written. */
  read(source: string): GroupProgress | undefined {
    const row = this.#sql.get.get(source);
    if (row === undefined) return undefined;
    const body = String(row['body']);
    if (row['checksum'] !== crc32(body))
      throw new UnreadableFile(`how far ${source} was followed cannot be read`);
    const { streams, ...rest } = JSON.parse(body) as StoredProgress;
    const whole = Object.entries(streams).map(([level, { from, ...stream }]): [string, Stream] => [
      level,
      { ...stream, window: this.#window(source, level, from) },
    ]);
    return { ...rest, streams: Object.fromEntries(whole) };
  }

  write(source: string, { streams, ...rest }: GroupProgress): void {
    const stored: [string, StoredProgress['streams'][string]][] = [];
    for (const [level, { window, ...stream }] of Object.entries(streams)) {
      this.#writeWindow(source, level, window);
      stored.push([level, { ...stream, from: window.from }]);
    }
    const body = JSON.stringify({ ...rest, streams: Object.fromEntries(stored) });
    this.#sql.put.run(source, body, crc32(body));
  }

  remove(source: string): void {
    this.#sql.remove.run(source);
    this.#sql.clear.run(source);
  }

  #window(source: string, level: string, from: number): Window {
    const all: number[] = [];
    let next = from;
    for (const { ordinal, hashes } of this.#sql.rows.all(source, level)) {
      const [start, bytes] = [Number(ordinal), hashes];
      if (!(bytes instanceof Uint8Array) || bytes.length % HASH_BYTES > 0 || start > next)
        throw new UnreadableFile(`the known lines of ${source} cannot be read`);
      const row = new Float64Array(bytes.slice().buffer);
      for (const hash of row.subarray(next - start)) all.push(hash);
      next = start + row.length;
    }
    return { from, hashes: Float64Array.from(all) };
  }

  #writeWindow(source: string, level: string, { from, hashes }: Window): void {
    const { slide, last, add } = this.#sql;
    slide.run(source, level, from);
    const row = last.get(source, level);
    const [ordinal, end] = [Number(row?.['ordinal'] ?? from), Number(row?.['end'] ?? from)];
    const isRoomy = end - ordinal < ROW_HASHES && ordinal >= from;
    const start = isRoomy ? ordinal : Math.max(from, end);
    const added = hashes.slice(start - from);
    add.run(source, level, start, new Uint8Array(added.buffer));
  }
}
