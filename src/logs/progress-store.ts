/**
 * How far each group was followed, in the spool's database. A window's lines
 * are rows, numbered by their place in the stream: a poll adds the new ones
 * and removes those that slid out, and never writes the other thousands again.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { GroupProgress } from './group.ts';
import type { Stream } from './stream.ts';

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
      next: db.prepare(
        'SELECT max(ordinal) + 1 AS next FROM window_line WHERE workergroup_id = ? AND level = ?',
      ),
      slide: db.prepare('DELETE FROM window_line WHERE workergroup_id = ? AND level = ? AND ordinal < ?'),
      add: db.prepare('INSERT INTO window_line VALUES (?, ?, ?, ?)'),
    };
  }

  /** @throws SyntaxError when what is stored cannot be read. */
  read(workergroupId: number): GroupProgress | undefined {
    const body = this.#statements.get.get(workergroupId)?.['body'];
    if (body === undefined) return undefined;
    const { streams, ...rest }: StoredProgress = JSON.parse(String(body));
    return {
      ...rest,
      streams: Object.fromEntries(
        Object.entries(streams).map(([level, { from, ...stream }]) => {
          const lines = this.#statements.lines.all(workergroupId, level).map(({ line }) => String(line));
          return [level, Object.assign(stream, { window: { from, lines } })];
        }),
      ),
    };
  }

  write(workergroupId: number, { streams, ...rest }: GroupProgress): void {
    const stored: Record<string, StoredStream> = {};
    for (const [level, { window, ...stream }] of Object.entries(streams)) {
      const { from, lines } = window;
      stored[level] = { ...stream, from };
      const next = Number(this.#statements.next.get(workergroupId, level)?.['next'] ?? from);
      this.#statements.slide.run(workergroupId, level, from);
      for (let ordinal = Math.max(from, next); ordinal < from + lines.length; ordinal++) {
        this.#statements.add.run(workergroupId, level, ordinal, lines[ordinal - from] ?? '');
      }
    }
    const body: StoredProgress = { ...rest, streams: stored };
    this.#statements.put.run(workergroupId, JSON.stringify(body));
  }
}
