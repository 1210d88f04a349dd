/**
 * What a search for advice costs: a week of 1.7 million requests a day, of which the rate is known by the minute, on all
 * cores. In a process of its own, with the limits of the daemon's child, whose peak of memory is the figure.
 * Run: node test/bench/search.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { CHILD_LIMITS } from '../../src/daemon/advice/compute.ts';
import { root } from '../support/optional.ts';
import { report } from './figures.ts';

interface Searched {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly mib: number;
  readonly requests: number;
  readonly sets: number;
  readonly best: object | undefined;
}

/** As it ships: types stripped at run time would take memory of their own. */
const folder = mkdtempSync(join(tmpdir(), 'pilotlight-search-'));
try {
  await build({
    entryPoints: {
      week: join(root, 'test/bench/search-week.ts'),
      'trial-thread': join(root, 'src/scaling/parallel/trial-thread.ts'),
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
  const { execArgv, env } = CHILD_LIMITS;
  const { stdout, status } = spawnSync(process.execPath, [...execArgv, join(folder, 'week.js')], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`the search ended with code ${status}`);
  const { seconds, cpuSeconds, mib, requests, sets } = JSON.parse(stdout) as Searched;
  const note = `${sets} sets, ${(requests / 1e6).toFixed(1)} million requests, ${cpuSeconds.toFixed(0)} s of CPU`;
  report('search-time', seconds, note);
  report('search-memory', mib * 1.048_576, 'peak RSS of the process, its threads included');
} finally {
  rmSync(folder, { recursive: true });
}
