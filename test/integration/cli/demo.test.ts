import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../support/daemon.ts';
import { startProgram, type Program } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { PROGRAM } from '../../support/program.ts';

/** In a session of its own, so that a signal can go to all of its processes, as a terminal sends it. */
function startDemo(environment: Record<string, string> = {}, program = PROGRAM): Program {
  return startProgram('setsid', [process.execPath, program, 'demo'], environment);
}

/** The daemon gets no further than this, however slow the one who sends the signal is. */
const NEVER_RUNS =
  "if (process.argv[2] === 'run') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";

function pidOf({ child: { pid } }: Program): number {
  if (pid === undefined) throw new Error('the demo has not started');
  return pid;
}

test.concurrent('the demo runs in a folder with a space in its name, follows a redeployed deployment, and nothing lapses', async () => {
  using folder = temporaryFolder();
  const dist = join(folder.path, 'my project', 'dist');
  cpSync(dirname(PROGRAM), dist, { recursive: true });
  await using demo = startDemo({}, join(dist, 'pilotlight.js'));
  await demo.seen(/redeployed +square was deployment 43, is now 44/);
  await demo.seen(/deployment 44 +found by its name, square\n.*deployment 44 +heartbeat accepted/);
  // A Ctrl-C at a terminal reaches the whole group.
  process.kill(-pidOf(demo), 'SIGINT');
  expect([await demo.exit, demo.stderr()]).toEqual([0, '']);
  expect(demo.stdout()).toMatch(/heartbeats sent +\d+, \d+ accepted by the service/);
  expect(demo.stdout()).toMatch(/lapses +0\n +redeployments +1, 1 followed to the new id\n/);
});

test.concurrent('a second signal ends the demo at once, and its daemon with it', async () => {
  await using demo = startDemo();
  const [, url = ''] = await demo.seen(/metrics +(\S+)/);
  demo.child.kill('SIGTERM');
  demo.child.kill('SIGTERM');
  await demo.exit;
  await until(() =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  );
});

test.concurrent('a Ctrl-C before the daemon has started ends it without a word', async () => {
  await using demo = startDemo({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NEVER_RUNS)}`,
  });
  await until(() => spawnSync('pgrep', ['-P', String(pidOf(demo))]).status === 0);
  process.kill(-pidOf(demo), 'SIGINT');
  expect([await demo.exit, demo.stderr()]).toEqual([130, '']);
});
