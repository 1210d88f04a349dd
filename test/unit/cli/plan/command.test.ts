/** `pilotlight plan` as it is typed: what it prints, writes, and ends with. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  generateLoad,
  plan as reckon,
  planSettings,
  resolveDefaults,
  type PlanResult,
} from '../../../../src/index.ts';
import { READER_LEFT } from '../../../../src/cli/console.ts';
import { jsonIn, pilotlight } from '../../../support/console.ts';
import { wordsOf } from '../../../support/page-words.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const LOAD = '--load constant --rate 20 --duration 5m --performance 10 --no-sensitivity'.split(' ');
const plan = (words: string, around = {}) => pilotlight(['plan', ...LOAD, ...words.split(' ')], around);

describe('a page', () => {
  test('is written, and named below the table; beside JSON it is not', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'plan.html');
    const { code, stdout, stderr } = await plan(`--html ${path}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^made up: constant, 20 units\/s on average: /);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(`Page with the plots: ${path}`);
    expect(wordsOf(readFileSync(path, 'utf8'))[0]).toBe('What these parameters will do');
    const json = await plan(`--json --html ${path}`);
    expect(jsonIn(json)).toMatchObject({ load: { work: 'the same for all' } });
  });

  test('that cannot be written is wrong usage', async () => {
    const { code, stdout, stderr } = await plan('--html /no/such/folder/plan.html');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: --html \/no\/such\/folder\/plan\.html: ENOENT/);
  });
});

describe('a search', () => {
  const SMALL = '--search --param max_workers=2 --param cold_workers=1';

  test('that finds a set is done, with the plan of it and of the one that was given', async () => {
    const { code, stdout, stderr } = await plan(`${SMALL} --p99 1h`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Cheapest with p99 at most 60 min: .*Its plan:\n\n +best +given\n/s);
    expect(stderr).toBe('');
  });

  test('that finds none has failed, whether or not it prints JSON', async () => {
    for (const json of ['', ' --json']) {
      const { code, stdout } = await plan(
        `--search --param max_workers=1 --param cold_workers=1 --p99 0s${json}`,
      );
      expect([code, stdout === '']).toEqual([1, false]);
    }
  });

  test.each([
    ['Ctrl-C', undefined, 130],
    ['a reader who leaves', READER_LEFT, 0],
  ])('that %s ends says nothing more, and is no search that finds none', async (_who, reason, expected) => {
    const signal = AbortSignal.abort(reason);
    const { code, stdout, stderr } = await plan(`${SMALL} --p99 1h`, { signal });
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).not.toMatch(/error|abort/i);
  });
});

describe('the sets', () => {
  const files = {
    'a/lean.json': '{"max_workers":2}',
    'groups.json': '[{"endpoint_name":"chat","max_workers":3},{"max_workers":4}]',
    'named.json': '[{"endpoint_name":"chat","max_workers":5}]',
    'wrong.json': '[{"max_worker":5}]',
  };
  const read = (path: string): string => files[path as keyof typeof files];
  const labels = async (words: string) => {
    const { stdout } = await plan(`${words} --json`, { read });
    const { plans } = JSON.parse(stdout) as {
      plans: { label: string; parameters: { max_workers: number } }[];
    };
    return plans.map(({ label, parameters }) => `${label} ${parameters.max_workers}`);
  };

  test('are called after their file, or their endpoint', async () => {
    expect(await labels('--compare a/lean.json groups.json')).toEqual(['lean 2', 'chat 3', '#2 4']);
    expect(await labels('--params a/lean.json')).toEqual(['lean 2']);
    expect(await labels('--params named.json')).toEqual(['chat 5']);
    expect(await labels('--params groups.json --group #2')).toEqual(['#2 4']);
    expect(await labels('--param max_workers=6')).toEqual(['parameters 6']);
    expect(await labels('--compare a/lean.json named.json --param max_workers=7')).toEqual([
      'lean 7',
      'chat 7',
    ]);
  });

  test.each([
    ['--compare a/lean.json --params named.json', "cannot be used with option '--params <file>'"],
    ['--compare a/lean.json --group chat', "cannot be used with option '--group <name>'"],
    ['--group chat', '--group chat: there are no groups to choose from'],
    ['--params groups.json', 'which group? Say --group NAME, one of chat, #2'],
    ['--params groups.json --group draw', 'no group draw; there are chat, #2'],
    ['--params wrong.json', 'error: wrong: max_worker: got a value; allowed: min_load, '],
    ['--search --compare a/lean.json', "cannot be used with option '--compare <files...>'"],
    ['--p99 5s', '--p99 belongs to --search'],
    ['--slots many', 'a number of at least 0'],
  ])('%s: %s', async (words, message) => {
    const { code, stdout, stderr } = await plan(words, { read });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  test('may come from the environment, what is wrong with it included', async () => {
    const of = (groups: string) => plan('--json', { env: { ENDPOINT_GROUPS: groups } });
    const { stdout } = await of('[{"max_workers":9}]');
    expect(JSON.parse(stdout)).toMatchObject({
      plans: [{ label: 'environment', parameters: { max_workers: 9 } }],
    });
    expect((await of('[')).stderr).toMatch(/^error: PILOTLIGHT_ENDPOINT_GROUPS: /);
    expect((await of('[]')).code).toBe(0);
  });
});

test('a trace is called after its file, with the work of a request as it was weighed, and settings as they were given', async () => {
  using folder = temporaryFolder();
  const trace = join(folder.path, 'day.csv');
  const run = (text: string, ...words: readonly string[]) => {
    writeFileSync(trace, `time_s,prompt_tokens,output_tokens\n${text}`);
    return pilotlight(['plan', '--trace', trace, '--no-sensitivity', '--performance', '10..20', ...words]);
  };
  const guessed = (await run('0,10,2\n4,30,1\n')).stdout.split('\n');
  expect(guessed.slice(0, 2)).toEqual([
    'day.csv: 2 requests in 4 s, 1.75 units/s on average, 4 at the peak (mean of 1 s)',
    'work of a request: 0.1 × prompt_tokens + output_tokens (assumed; --weight COLUMN=UNITS says otherwise)',
  ]);
  expect(guessed).toContain('Given: --performance 10..20');
  expect(guessed.join('\n')).toContain(
    '\n  --weight prompt_tokens=0.1  --weight output_tokens=1  --start-time ',
  );
  const words = '--request-work 2 --weight output_tokens=3 --give-up never --initial-workers floor --slots 2';
  const given = (await run('0,10,2\n', ...words.split(' '))).stdout.split('\n');
  expect(given[1]).toBe('work of a request: 2 + 3 × output_tokens');
  expect(given).toContain('Given: --performance 10..20  --slots 2  --initial-workers floor  --give-up never');
  const none = await run('');
  expect(none).toEqual({ code: 2, stdout: '', stderr: 'error: day.csv: there are no requests in it\n' });
});

test('--json prints one document, to the byte the same each time, and the library reckons the same', async () => {
  const flags = '--load poisson --rate 50 --duration 10m --performance 10 --json'.split(' ');
  const run = () => pilotlight(['plan', ...flags]);
  const { stdout: text } = await run();
  expect(await run()).toEqual({ code: 0, stdout: text, stderr: '' });
  const { plans, assumptions } = JSON.parse(text) as {
    readonly plans: readonly PlanResult[];
    readonly assumptions: readonly { readonly flag: string; readonly value: string }[];
  };
  const settings = planSettings({ performance: { least: 10, most: 10 } });
  const load = generateLoad({ shape: 'poisson', unitsPerSecond: 50, seconds: 600 });
  const { queueTime, work, cost } = reckon({ parameters: resolveDefaults({}), settings }, load);
  expect(plans[0]).toMatchObject({ queueTime, work, cost });
  // JSON has no word for it.
  expect(plans[0]?.settings.giveUpSeconds).toBe('Infinity');
  expect(assumptions).toContainEqual(expect.objectContaining({ flag: '--give-up', value: 'never' }));
});
