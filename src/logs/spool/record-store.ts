/** Records and the sinks' places among them, in the spool's database. */
import type { DatabaseSync } from 'node:sqlite';
import { batchBytes, createBatch, type Batch } from './batch.ts';
import type { SinkPosition } from './sink-positions.ts';
import type { LogRecord } from '../record.ts';
import { BATCH_BYTES, BATCH_RECORDS, bytesOf } from './spool.ts';

export interface StoredRecord {
  readonly position: number;
  readonly bytes: number;
}

export class RecordStore {
  readonly #statements;

  constructor(db: DatabaseSync) {
    this.#statements = {
      add: db.prepare('INSERT INTO record VALUES (?, ?, ?)'),
      after: db.prepare('SELECT position, bytes, body FROM record WHERE position > ? ORDER BY position'),
      oldest: db.prepare('SELECT position, bytes FROM record ORDER BY position'),
      remove: db.prepare('DELETE FROM record WHERE position = ?'),
      bytesThrough: db.prepare('SELECT total(bytes) AS bytes FROM record WHERE position <= ?'),
      removeThrough: db.prepare('DELETE FROM record WHERE position <= ?'),
      countAfter: db.prepare('SELECT count(*) AS count FROM record WHERE position > ?'),
      totals: db.prepare('SELECT total(bytes) AS bytes, max(position) AS last FROM record'),
      sinks: db.prepare('SELECT name, acknowledged, dropped FROM sink'),
      putSink: db.prepare('INSERT OR REPLACE INTO sink VALUES (?, ?, ?)'),
      removeSink: db.prepare('DELETE FROM sink WHERE name = ?'),
    };
  }

  /** @param text The record's JSON. @returns The bytes that it counts for. */
  add(position: number, record: LogRecord, text: string): number {
    const bytes = bytesOf(record);
    this.#statements.add.run(position, bytes, text);
    return bytes;
  }

  /** @throws SyntaxError when what is stored cannot be read. */
  batchAfter(acknowledged: number): Batch | undefined {
    const [lines, records]: [string[], LogRecord[]] = [[], []];
    let [through, bytes] = [acknowledged, 0];
    for (const row of this.#statements.after.iterate(acknowledged)) {
      bytes += Number(row['bytes']);
      if (records.length === BATCH_RECORDS || (bytes > BATCH_BYTES && records.length > 0)) break;
      const line = String(row['body']);
      lines.push(line);
      records.push(JSON.parse(line));
      through = Number(row['position']);
    }
    return records.length === 0 ? undefined : createBatch(batchBytes(lines), through, records);
  }

  /** From the oldest on. Not to be changed while it is read. */
  *oldest(): Generator<StoredRecord> {
    for (const { position, bytes } of this.#statements.oldest.iterate()) {
      yield { position: Number(position), bytes: Number(bytes) };
    }
  }

  remove(position: number): void {
    this.#statements.remove.run(position);
  }

  /** @returns The bytes of the records removed. */
  removeThrough(position: number): number {
    const bytes = Number(this.#statements.bytesThrough.get(position)?.['bytes']);
    this.#statements.removeThrough.run(position);
    return bytes;
  }

  countAfter(position: number): number {
    return Number(this.#statements.countAfter.get(position)?.['count']);
  }

  get bytes(): number {
    return Number(this.#statements.totals.get()?.['bytes']);
  }

  /** Position of the newest record; 0 when there is none. */
  get last(): number {
    return Number(this.#statements.totals.get()?.['last'] ?? 0);
  }

  get sinks(): readonly Pick<SinkPosition, 'sink' | 'acknowledged' | 'dropped'>[] {
    return this.#statements.sinks.all().map(({ name, acknowledged, dropped }) => ({
      sink: String(name),
      acknowledged: Number(acknowledged),
      dropped: Number(dropped),
    }));
  }

  putSink({ sink, acknowledged, dropped }: Pick<SinkPosition, 'sink' | 'acknowledged' | 'dropped'>): void {
    this.#statements.putSink.run(sink, acknowledged, dropped);
  }

  removeSink(sink: string): void {
    this.#statements.removeSink.run(sink);
  }
}
