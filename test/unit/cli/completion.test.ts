import { Argument, Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { candidatesFor } from '../../../src/cli/commands/completion.ts';
import { OPERATION_IDS } from '../../../src/contract/operations.ts';

const LONG = 'a description that is much too long to be shown beside what it is of';
const program = new Command('pilotlight');
program
  .command('show')
  .alias('get')
  .description('shows\nmore of it')
  .option('-f, --file <file>', LONG)
  .option('--path <path>', 'where')
  .option('--weight <n>', 'may be repeated')
  .option('--json', 'as JSON')
  .addOption(new Option('--hidden').hideHelp())
  .addOption(new Option('--shape <shape>', 'which').choices(['round', 'square']));
program.command('shut', 'not shown', { hidden: true });
const nested = program.command('template').summary('of templates').description('long');
nested.command('search').description('finds some');
program.command('completion').addArgument(new Argument('<shell>').choices(['bash', 'zsh']));
program.command('call').argument('<operation>');

test.each([
  ['', 'show template completion call help'],
  ['sh', 'show'],
  ['template ', 'search help'],
  ['unknown t', 'template'],
  ['show --', '--file --path --weight --json --shape --help'],
  ['get --js', '--json'],
  ['show --json --weight 1 --', '--file --path --weight --shape --help'],
  ['show --shape ', 'round square'],
  ['show --shape s', 'square'],
  ['show -f any', ':files'],
  ['show --path ', ':files'],
  ['show --weight ', ''],
  ['show --shape round --fi', '--file'],
  ['completion ', 'bash zsh'],
  ['completion z', 'zsh'],
  ['call deployments.heart', 'deployments.heartbeat'],
])('after %j comes one of %j', (typed, expected) => {
  const candidates = candidatesFor(program, typed.split(' '));
  expect(candidates.map(({ value }) => value).join(' ')).toBe(expected);
});

test('without a word all commands come next', () => {
  expect(candidatesFor(program, [])).toEqual(candidatesFor(program, ['']));
});

test('each has a short line about it', () => {
  expect(candidatesFor(program, ['']).slice(0, 2)).toEqual([
    { value: 'show', description: 'shows' },
    { value: 'template', description: 'of templates' },
  ]);
  expect(candidatesFor(program, ['show', '--file'])).toEqual([
    { value: '--file', description: `${LONG.slice(0, 59)}…` },
  ]);
  expect(candidatesFor(program, ['call', '']).map(({ value }) => value)).toEqual(OPERATION_IDS);
});
