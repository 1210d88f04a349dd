/** A sink that gets lines without colours and other terminal commands. */
import { stripVTControlCharacters } from 'node:util';
import { createBatch, type Batch } from '../spool/batch.ts';
import type { LogRecord } from '../record.ts';
import type { Sink } from './sink.ts';

/** How each command begins, in JSON. */
const ESCAPES = ['\\u001b', '\u009B'];

export function withPlainLines(sink: Sink): Sink {
  /** A batch that is written again stays the same. */
  const plain = new WeakMap<Batch, Batch>();
  return {
    name: sink.name,
    write(batch, signal) {
      const without = plain.get(batch) ?? plainBatch(batch);
      plain.set(batch, without);
      return sink.write(without, signal);
    },
    close: () => sink.close(),
  };
}

function plainBatch(batch: Batch): Batch {
  if (!ESCAPES.some((escape) => batch.bytes.includes(escape))) return batch;
  const lines = batch.records.map((record) => `${JSON.stringify(plainRecord(record))}\n`);
  return createBatch({ bytes: Buffer.from(lines.join('')), count: batch.count });
}

function plainRecord(record: LogRecord): LogRecord {
  return 'line' in record ? { ...record, line: stripVTControlCharacters(record.line) } : record;
}
