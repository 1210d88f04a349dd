/** A spool that an older version left: what waits in it is delivered, and no number is used twice. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { test } from '../../../support/log-folder.ts';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';
import { record } from '../../../support/log-records.ts';
import { LogService } from '../../../support/log-service.ts';
import { openSpool, SOURCE } from '../../../support/log-spool.ts';

const LINES = Array.from({ length: 500 }, (_, index) => `line ${index % 70}`);

/** As a version wrote it, through the same lines; the last two are not delivered. */
function writeOld(version: number, path: string): void {
  using db = new DatabaseSync(path);
  const ofStream = 'workergroup_id INTEGER, level TEXT, ordinal INTEGER';
  const rows = `${ofStream}, lines INTEGER NOT NULL`;
  const key = 'PRIMARY KEY (workergroup_id, level, ordinal)';
  db.exec(`
    CREATE TABLE record (position INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE sink (name TEXT PRIMARY KEY, acknowledged INTEGER NOT NULL, dropped INTEGER NOT NULL) STRICT;
    CREATE TABLE progress (workergroup_id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
    CREATE TABLE window_line (${ofStream}, line TEXT NOT NULL, ${key}) STRICT, WITHOUT ROWID;
    CREATE TABLE loss (epoch INTEGER NOT NULL) STRICT;
    ${version >= 2 ? `CREATE TABLE window_block (${rows}, packed BLOB NOT NULL, ${key}) STRICT;` : ''}
    PRAGMA user_version = ${version};
    INSERT INTO sink VALUES ('stdout', 498, 5);
    INSERT INTO loss VALUES (2);
  `);
  const waiting = db.prepare('INSERT INTO record VALUES (?, 300, ?)');
  for (const seq of [499, 500]) waiting.run(seq, JSON.stringify(record(seq, LINES[seq - 1])));
  const progress = {
    epoch: 4,
    seq: 500,
    time: 5,
    bytesPerLine: 10,
    linesPerSecond: 0,
    streams: { '': { from: 0, endsLines: true } },
  };
  db.prepare('INSERT INTO progress VALUES (7, ?)').run(JSON.stringify(progress));
  const line = db.prepare("INSERT INTO window_line VALUES (7, '', ?, ?)");
  for (const [index, text] of LINES.entries()) line.run(index, text);
}

test.for([1, 2])(
  'a file of version %i goes on, and a reset marks that its lines come again',
  async (version, { folder }) => {
    writeOld(version, join(folder, 'spool.sqlite'));
    const log = new LogService();
    log.writeLines(LINES);
    for (let run = 0; run < 2; run++) {
      const { spool, events, drain } = await openSpool(folder);
      expect([events, spool.lag('stdout')]).toEqual([[], run === 0 ? 2 : 0]);
      expect(drain()).toEqual(run === 0 ? [499, 500] : []);
      const polls = new LogPolls(spool.beginning(SOURCE));
      log.writeLines([`new ${run}`]);
      const records = polls.poll((tail) => log.answer(tail));
      if (run === 0) {
        expect(records[0]).toMatchObject({ seq: 1, gap: { reason: 'reset' } });
        expect(records[0]?.epoch).toBeGreaterThan(4);
        expect(linesOf(records)).toEqual(log.lines);
      } else {
        expect(records).toMatchObject([{ seq: 503, line: 'new 1' }]);
      }
      spool.append(SOURCE, records, polls.state.progress);
      expect(drain()).toHaveLength(records.length);
      spool.close();
    }
  },
);
