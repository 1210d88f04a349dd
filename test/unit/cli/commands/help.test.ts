/** What a command says of itself, and what it refuses before it does anything. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import type { Console } from '../../../../src/cli/console.ts';
import { createProgram } from '../../../../src/cli/program.ts';
import { exitCodesText } from '../../../../src/config/exit-codes.ts';
import { OPTION_KEYS, OPTIONS, PREFIX } from '../../../../src/config/options.ts';
import { pilotlight } from '../../../support/console.ts';

const SILENT = { out() {}, err() {} } as unknown as Console;

/** However it is broken into lines. */
function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function withAllBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap((child) => withAllBelow(child))];
}

test('every command, argument and option says what it is for, in words of its own', async () => {
  // Those of the operations are described by the contract.
  const program = await createProgram(SILENT, ['ops']);
  // This one is called by shells, and shown to nobody.
  const commands = withAllBelow(program).filter((command) => command.name() !== '__complete');
  expect(commands.length).toBeGreaterThan(15);
  const unsaid = commands.flatMap((command) => {
    const parts = [...command.registeredArguments, ...command.options];
    const all = [command.summary() || command.description(), ...parts.map(({ description }) => description)];
    return all.flatMap((words, place) =>
      /\w{2}.*\w{2}/.test(words) ? [] : [`${command.name()} ${parts[place - 1]?.name() ?? ''}`],
    );
  });
  // Where choices say all that there is to say.
  expect(unsaid).toEqual(['log-level level', 'completion shell']);
});

test('commands that people run by hand say what they do, verb first, and give an example', async () => {
  const program = await createProgram(SILENT, ['ops']);
  const commands = program.commands.filter((command) => command.name() !== '__complete');
  const NEEDS_NONE = new Set(['healthcheck', 'ops', 'openapi', 'completion', 'logout']);
  for (const command of commands) {
    expect(command.description()).toMatch(/^(?:Run|Print|Predict|Show|Exit|Store|Remove|Tell|Call|List) \S/);
    const { stdout } = await pilotlight([command.name(), '--help']);
    if (!NEEDS_NONE.has(command.name()))
      expect(stdout).toMatch(/Examples?:(?:\n {2}(?:pilotlight [a-z]|PILOT| +PILOT).*)+\n(?:\n|$)/);
  }
});

test('the five flags that a first plan needs come first', async () => {
  const { stdout } = await pilotlight(['plan', '--help']);
  const [, first = ''] = /To begin with:\n([^]*?)\n\n/.exec(stdout) ?? [];
  const flags = ['--trace', '--performance', '--params', '--compare', '--search'];
  expect(first.match(/^ {2}--\w+/gm)?.map((flag) => flag.trim())).toEqual(flags);
});

test('only resources that a word names, by any of their names, have their commands made', async () => {
  for (const words of [
    ['template', 'create'],
    ['help', 'templates'],
    ['__complete', '--', 'template', ''],
  ]) {
    const { commands } = await createProgram(SILENT, words);
    const made = commands.filter((one) => one.commands.length > 0).map((one) => one.name());
    expect(made.toSorted()).toEqual(['admin', 'template']);
  }
  const { commands } = await createProgram(SILENT);
  expect(commands.filter((one) => one.commands.length > 0).length).toBeGreaterThan(10);
});

test.each([
  [['admin'], ['PILOTLIGHT_ADMIN_LISTEN', exitCodesText()]],
  [['logs'], ['PILOTLIGHT_SERVERLESS_URL', 'stderr reports gaps', exitCodesText()]],
  [
    ['template', 'create'],
    [
      'pilotlight template create [options] Store',
      '§',
      '--json print the answer as JSON',
      '--dry-run print the request instead of sending it; keys and passwords are hidden, env is not',
      '--timeout <duration> longest time for one attempt; default 30s',
      '--input <json> fields as one JSON object, @FILE, or - for standard input; flags win over it',
      '--name <text> human-readable name (required)',
      '--docker-login-pass <text> registry access token; empty when not needed (default: "", a secret)',
      '--recommended-disk-space <number> GB; more than 0 (default: 8)',
      '--private whether the template is private (or --no-private)',
      '--volume-info <name=value> interface hint only; has no effect on instance creation (may be repeated)',
    ],
  ],
  [['deployment', 'heartbeat'], ['Assumed, since the interface does not say: permission, not_found']],
  [['template', 'search'], ["query conditions, one or several in one text: 'FIELD=VALUE OTHER>=VALUE'"]],
])('the help of %j ends with what its options do not say', async (words, parts) => {
  const { code, stdout, stderr } = await pilotlight([...words, '--help']);
  expect([code, stderr]).toEqual([0, '']);
  for (const part of parts) expect(onOneLine(stdout)).toContain(onOneLine(part));
});

test('the help of run lists each variable with its default, and what it is for', async () => {
  const { stdout } = await pilotlight(['run', '--help']);
  for (const key of OPTION_KEYS) {
    const { variable, doc, type } = OPTIONS[key];
    expect(stdout).toContain(`  ${PREFIX}${variable} (${type.name}; `);
    expect(stdout).toContain(`)\n      ${doc}`);
  }
  expect(stdout).toContain('NAME_FILE');
  expect(stdout).toMatch(/PILOTLIGHT_API_KEY \([^;]+; required\)/);
  expect(stdout).toMatch(/PILOTLIGHT_ENDPOINTS \([^;]+; not set\)/);
  expect(stdout).toMatch(/PILOTLIGHT_LISTEN \([^;]+; 0\.0\.0\.0:9847\)/);
});

const LINES = 'a number of lines from 1 to 10000, which is the most the service has';
const DURATION = 'a duration is 500ms, 20s, 5m or 1h';
test.each([
  ['logs 7 --tail 0', LINES],
  ['logs 7 --tail 10001', LINES],
  ['logs 7 --tail x5', LINES],
  ['demo --for 0s', DURATION],
  ['emulator --port 65536', 'a port is a number from 0 to 65535'],
  ['emulator --port 1x', 'a port is a number from 0 to 65535'],
  ['check --cold-start soon', DURATION],
  ['fleet --every 0s', 'more than zero, at most 24h'],
  ['fleet --every 25h', 'more than zero, at most 24h'],
  ['check --performance 0', 'a number above 0'],
  ['check --performance 1e999', 'a number above 0'],
  ['admin log-level loud', 'Allowed choices are'],
  ['logout --profile a/b', 'a name of letters, digits, _ . and -.'],
  ['status --url nowhere', 'It is an address such as http://127.0.0.1:9847.'],
  ['status --url file:///x', 'It is an address such as http://127.0.0.1:9847.'],
  ['bill --since 367d', "'367d'"],
  ['plan --weight =1', 'write it as name=value'],
  ['call deployments.heartbea', 'no operation deployments.heartbea; did you mean deployments.heartbeat?'],
  ['call zzzzzzzz', 'no operation zzzzzzzz; see pilotlight ops'],
])('%s is refused before anything is done', async (line, said) => {
  const { code, stdout, stderr } = await pilotlight(line.split(' '));
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(said);
});
