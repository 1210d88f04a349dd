/** What commands of operations take and say: a flag for each field, shared options, and the help. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { printError, type Console } from '../console.ts';
import { addCallOptions, CONNECTION } from '../flag-types.ts';
import { InputError } from '../command-error.ts';
import { flagsOf, type Flag } from './flags.ts';
import { parseObject } from '../json-input.ts';
import { readInput, type Input } from './input.ts';
import type { PerformOptions } from './perform.ts';
import { assumedParts } from '../../contract/assumptions.ts';
import { sentencesOf } from '../../contract/define.ts';
import { quoteWord } from '../../contract/text/shell-words.ts';
import { exitCodesText } from '../../config/exit-codes.ts';
import { commandOf } from './names.ts';

export interface CommandOptions extends PerformOptions {
  readonly input?: string;
}

export function addFlags(command: Command, flags: readonly Flag[]): void {
  command.optionsGroup('Fields:');
  for (const flag of flags) for (const option of optionsOf(flag)) command.addOption(option);
}

interface GivenElsewhere {
  readonly base?: string | undefined;
  /** Arguments in place of a flag. */
  readonly subjects?: readonly (readonly [name: string, text: string])[];
  readonly query?: string | undefined;
}

/** Undefined: its problems have been printed. */
export function readFields(
  command: Command,
  flags: readonly Flag[],
  { base, subjects = [], query }: GivenElsewhere,
  console: Console,
): Input | undefined {
  const given = givenTexts(command, flags);
  for (const [name, text] of subjects) {
    if (given.has(name)) return command.error(`error: ${name} is given twice: as ${text} and as --${name}`);
    given.set(name, [text]);
  }
  const { input, problems, notes } = readInput(flags, { flags: given, query }, readBase(base, console));
  for (const note of notes) printError(console, `warning: ${note}`);
  for (const problem of problems) printError(console, `error: ${problem}`);
  return problems.length > 0 ? undefined : input;
}

/** Values stay texts here; input.ts converts them for the schema. */
function optionsOf(flag: Flag): Option[] {
  const { name, kind, takes, choices } = flag;
  if (kind === 'boolean') {
    return [
      new Option(`--${name}`, describe(flag)),
      new Option(`--no-${name}`, `the opposite of --${name}`).hideHelp(),
    ];
  }
  const option = new Option(`--${name} <${takes}>`, describe(flag));
  if (choices.length > 0) option.choices(choices);
  return [
    option.argParser((text, earlier: string[] | undefined) => {
      if (choices.length > 0 && !choices.includes(text))
        throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
      return [...(earlier ?? []), text];
    }),
  ];
}

function describe(flag: Flag): string {
  const { description, required, fallback, byDefault = fallback, kind, name, secret } = flag;
  const notes = [
    required && fallback === undefined ? 'required' : '',
    byDefault === undefined ? '' : `default: ${JSON.stringify(byDefault)}`,
    ['list', 'map', 'filter', 'filters'].includes(kind) ? 'may be repeated' : '',
    kind === 'boolean' ? `or --no-${name}` : '',
    secret ? 'a secret' : '',
  ].filter((note) => note !== '');
  return [description, notes.length > 0 ? `(${notes.join(', ')})` : ''].filter(Boolean).join(' ');
}

function givenTexts(command: Command, flags: readonly Flag[]): Map<string, readonly string[]> {
  const given = new Map<string, readonly string[]>();
  for (const { name, kind } of flags) {
    const attribute = new Option(`--${name}`).attributeName();
    if (command.getOptionValueSource(attribute) !== 'cli') continue;
    const value: unknown = command.getOptionValue(attribute);
    given.set(name, kind === 'boolean' ? [String(value)] : (value as string[]));
  }
  return given;
}

export function addSharedOptions(command: Command, id: OperationId, example?: string): Command {
  return addCallOptions(command)
    .option('--json', 'print the answer as JSON')
    .option('--input <json>', 'fields as one JSON object, @FILE, or - for standard input; flags win over it')
    .addHelpText('after', () => helpAfter(id, example));
}

function readBase(text: string | undefined, console: Console): Input {
  if (text === undefined) return {};
  const path = text === '-' ? '-' : text.startsWith('@') ? text.slice(1) : undefined;
  const base = parseObject(path === undefined ? text : console.read(path));
  if (!base) throw new InputError('--input takes one JSON object, a file as @FILE, or - for standard input');
  return base;
}

export function helpAfter(id: OperationId, example = exampleOf(id)): string {
  const operation = operationOf(id);
  const { method, path, base, source, origin, permission, errors, replacedBy } = operation;
  const assumed = assumedParts(operation);
  const where = base === 'serverless' ? ' at the serverless address' : '';
  return [
    '',
    `Request: ${method} ${path}${where}`,
    `Source: ${source}${origin === 'interface' ? ' of the interface document' : ''}`,
    ...(replacedBy === undefined ? [] : [`Deprecated: use ${commandOf(replacedBy as OperationId)}.`]),
    ...sentencesOf(operation),
    ...(permission === undefined ? [] : [`A scoped key needs the permission ${permission}.`]),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.join(', ')}`]),
    ...(assumed.length === 0 ? [] : [`Assumed, since the interface does not say: ${assumed.join(', ')}`]),
    `Example: ${example}`,
    CONNECTION,
    exitCodesText(),
  ].join('\n');
}

export function exampleOf(id: OperationId): string {
  const operation = operationOf(id);
  const input = operation.example.input;
  const words = flagsOf(operation).flatMap(({ path, field, name, subject, kind, fallback }) => {
    const value = input[field];
    if (path.length > 1 || value === undefined || value === fallback) return [];
    if (kind === 'boolean') return [value === true ? `--${name}` : `--no-${name}`];
    const text = quoteWord(textOf(value));
    return subject ? [text] : [`--${name}`, text];
  });
  return ['pilotlight', commandOf(id), ...words].join(' ');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value.join(',');
  return JSON.stringify(value);
}
