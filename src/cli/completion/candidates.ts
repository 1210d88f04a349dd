/** What may come next on the command line, read from the commands themselves. */
import type { Command, Option } from 'commander';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { FILES } from '../shells.ts';

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** `words`: those after the program's name; the last one is being typed and may be empty. */
export function candidatesFor(program: Command, words: readonly string[]): Candidate[] {
  const typed = words.at(-1) ?? '';
  const { command, pending, used } = walk(program, words.slice(0, -1));
  const all = pending
    ? valuesOf(pending)
    : typed.startsWith('-')
      ? optionsOf(command, used)
      : wordsOf(command);
  return all.filter(({ value }) => value === FILES || value.startsWith(typed));
}

interface Place {
  readonly command: Command;
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
  readonly used: ReadonlySet<Option>;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  let pending: Option | undefined;
  const used = new Set<Option>();
  for (const word of words) {
    if (pending) pending = undefined;
    else if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      if (option) used.add(option);
      if (option?.required) pending = option;
    } else {
      command = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word)) ?? command;
    }
  }
  return { command, pending, used };
}

function valuesOf(option: Option): Candidate[] {
  if (option.argChoices) return option.argChoices.map((value) => ({ value, description: '' }));
  return /<(?:file|path)>/.test(option.flags) ? [{ value: FILES, description: '' }] : [];
}

function optionsOf(command: Command, used: ReadonlySet<Option>): Candidate[] {
  const repeatable = (option: Option): boolean => option.description.includes('may be repeated');
  return command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => !used.has(option) || repeatable(option))
    .map((option) => ({ value: option.long ?? option.flags, description: brief(option.description) }));
}

function wordsOf(command: Command): Candidate[] {
  if (command.name() === 'call') return OPERATION_IDS.map((value) => ({ value, description: '' }));
  const choices = command.registeredArguments.flatMap((argument) => argument.argChoices ?? []);
  const commands = command.createHelp().visibleCommands(command);
  return [
    ...choices.map((value) => ({ value, description: '' })),
    ...commands.map((each) => ({
      value: each.name(),
      description: brief(each.summary() || each.description()),
    })),
  ];
}

/** One short line. */
function brief(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
