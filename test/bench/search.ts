/**
 * What advice costs, as the daemon has it computed at night: a child process, of which the peak of memory is the figure,
 * with the history of a week of 1.7 million requests a day. Run: node test/bench/search.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../support/optional.ts';
import { ensure, report } from './figures.ts';

interface Searched {
  readonly seconds: number;
  readonly mebibytes: number;
  readonly verdict: string;
  readonly sentence: string;
  readonly tried: number;
  readonly requests: number;
  readonly planned: number;
}

/** As it ships: types stripped at run time would take memory of their own. */
const folder = mkdtempSync(join(tmpdir(), 'pilotlight-search-'));
try {
  await build({
    entryPoints: {
      week: join(root, 'test/bench/search-week.ts'),
      // Where the program looks for it.
      advice: join(root, 'src/daemon/advice/child.ts'),
    },
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    logLevel: 'warning',
  });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const { stdout, status } = spawnSync(process.execPath, [join(folder, 'week.js')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`the search ended with code ${status}`);
  const { seconds, mebibytes, verdict, sentence, tried, requests, planned } = JSON.parse(stdout) as Searched;
  ensure(verdict === 'change', `a set that is cheaper; it was said: ${sentence}`);
  const millions = (count: number) => (count / 1e6).toFixed(1);
  const note = `${tried} sets; ${millions(requests)} million requests, planned for as ${millions(planned)} million`;
  report('search-time', seconds, note);
  report('search-memory', mebibytes * 1.048_576, 'peak of the process');
} finally {
  rmSync(folder, { recursive: true });
}
