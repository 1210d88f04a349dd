import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DaemonMessage } from '../../../../src/heartbeat/process/link.ts';
import { startDaemonChild, type DaemonChild } from '../../../../src/heartbeat/process/supervisor.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** Tells what it is, and does what it hears. */
const PROGRAM = `
import { readFileSync, writeSync } from 'node:fs';
process.on('message', ({ type, withinMs }) => {
  if (type === 'reload') {
    writeSync(4, 'a record');
    writeSync(5, 'a line');
    process.send({ type: 'quit' });
  } else if (withinMs === undefined) {
    process.send({
      type: 'told',
      restarts: process.argv[2],
      flags: process.execArgv,
      secret: process.env['SECRET'],
      isChosenFirst: readFileSync('/proc/self/oom_score_adj', 'utf8').trim(),
    });
  } else {
    console.error('x'.repeat(withinMs) + ' last words');
    process.exit(3);
  }
});
`;

let folder: ReturnType<typeof temporaryFolder>;
let outputs: [stdout: number, stderr: number];
const children: DaemonChild[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  outputs = [openSync(join(folder.path, 'stdout'), 'w'), openSync(join(folder.path, 'stderr'), 'w')];
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill();
    await child.ended;
  }
  for (const fd of outputs) closeSync(fd);
  folder[Symbol.dispose]();
});

function start(environment?: NodeJS.ProcessEnv, text = PROGRAM) {
  const path = join(folder.path, 'daemon.mjs');
  if (text !== '') writeFileSync(path, text);
  const child = startDaemonChild({
    restarts: 3,
    stdout: outputs[0],
    stderr: outputs[1],
    heapMebibytes: 64,
    program: pathToFileURL(path),
    ...(environment && { environment }),
  });
  children.push(child);
  const heard: DaemonMessage[] = [];
  child.listen((message) => heard.push(message));
  return { child, heard };
}

test('knows how many there were, its limits and its environment, and is what the kernel ends first', async () => {
  const { child, heard } = start({ SECRET: 'of its own' });
  child.send({ type: 'report' } as never);
  await expect.poll(() => heard, { interval: 2 }).toHaveLength(1);
  const isLinux = process.platform === 'linux';
  expect(heard).toEqual([
    {
      type: 'told',
      restarts: '3',
      flags: ['--max-semi-space-size=2', '--max-old-space-size=64'],
      secret: 'of its own',
      isChosenFirst: isLinux ? '500' : expect.anything(),
    },
  ]);
  expect(child.pid).toBeGreaterThan(0);
});

test('writes to the descriptors that it is given, and has the environment of this process', async () => {
  process.env['SECRET'] = 'of all';
  const { child, heard } = start();
  delete process.env['SECRET'];
  child.send({ type: 'reload' });
  await expect.poll(() => heard, { interval: 2 }).toEqual([{ type: 'quit' }]);
  expect(readFileSync(join(folder.path, 'stdout'), 'utf8')).toBe('a record');
  expect(readFileSync(join(folder.path, 'stderr'), 'utf8')).toBe('a line');
  child.send({ type: 'report' } as never);
  await expect.poll(() => heard.at(-1), { interval: 2 }).toMatchObject({ secret: 'of all' });
});

test('how it ended is told with the end of what it said', async () => {
  const { child } = start();
  child.send({ type: 'stop', withinMs: 600 });
  expect(await child.ended).toBe(`exit code 3: ${'x'.repeat(500 - ' last words\n'.length)} last words`);
  // Nobody is there any more.
  child.send({ type: 'reload' });
});

test('one that said nothing ended by its code or its signal alone', async () => {
  const { child } = start(undefined, 'process.exit(7);');
  expect(await child.ended).toBe('exit code 7');
  const killed = start();
  killed.child.kill();
  expect(await killed.child.ended).toBe('signal SIGKILL');
});

test('of a fatal error Node says why before a long native stack', async () => {
  const why = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory';
  const stack = ' 1: 0x7 node::OOMErrorHandler\n'.repeat(40);
  const parts = ['<--- Last few GCs --->\n', why.slice(0, 30), `${why.slice(30)}\n${stack}`];
  const writes = parts.map((text) => `writeSync(2, ${JSON.stringify(text)});`).join('');
  const { child } = start(undefined, `import { writeSync } from 'node:fs'; ${writes} process.exit(7);`);
  expect(await child.ended).toBe(`exit code 7: ${why}`);
});

test('one whose program is not there ends, and says so', async () => {
  const { child } = start(undefined, '');
  expect(await child.ended).toMatch(/^exit code 1: .*MODULE_NOT_FOUND/s);
});
