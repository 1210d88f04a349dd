/** The table → commands: `template create`, `tfa status`, … each with flags, help, a dry run and a curl line. */
import { Argument, Command } from 'commander';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { deployCommand } from '../commands/deploy.ts';
import type { Console } from '../console.ts';
import { addFlags, addSharedOptions, readFields, type CommandOptions } from './fields.ts';
import { flagsOf } from './flags.ts';
import { takesQuery, type Input } from './input.ts';
import { commandGroups } from './names.ts';
import { namedField } from './subjects.ts';

/** One command for each resource; below those that `words` name (default: all), one for each operation. */
export function operationCommands(console: Console, words?: readonly string[]): Command[] {
  return commandGroups().map(({ name, aliases, operations }) => {
    const group = new Command(name).description(operations.map((operation) => operation.name).join(', '));
    group.aliases(aliases);
    // Flags come of the schemas, which takes time: a tenth of a second for all of them.
    if (words && ![name, ...aliases].some((word) => words.includes(word))) return group;
    for (const operation of operations) {
      const command = operationCommand(operation.id, operation.name, console);
      group.addCommand(operation.alias === undefined ? command : command.alias(operation.alias));
    }
    // The one command that is several operations.
    if (operations.some(({ id }) => id === 'deployments.create')) group.addCommand(deployCommand(console));
    return group;
  });
}

/** As the vendor's command line does, a search leaves out offers that cannot be rented, unless it names the fields. */
const ONLY_FREE = { rentable: { eq: true }, rented: { eq: false } };

function operationCommand(id: OperationId, name: string, console: Console): Command {
  const operation = operationOf(id);
  const flags = flagsOf(operation);
  const subjects = flags.filter(({ subject }) => subject);
  const command = new Command(name)
    .summary(operation.summary)
    .description([operation.summary, operation.description].filter(Boolean).join('.\n'));
  for (const flag of subjects) {
    const orName = namedField(id) === flag.field ? `${flag.description}, or its name` : flag.description;
    command.addArgument(new Argument(`[${flag.name}]`, orName));
  }
  const hasQuery = takesQuery(flags);
  if (hasQuery)
    command.argument('[query]', "conditions, one or several in one text: 'FIELD=VALUE OTHER>=VALUE'");
  addFlags(command, flags);
  return addSharedOptions(command, id).action(async (...args: unknown[]) => {
    const texts = subjects.flatMap(({ name: flagName }, index) => {
      const text = args[index];
      return typeof text === 'string' ? [[flagName, text] as const] : [];
    });
    const options = command.opts<CommandOptions>();
    const query =
      hasQuery && typeof args[subjects.length] === 'string' ? String(args[subjects.length]) : undefined;
    const given = readFields(command, flags, { base: options.input, subjects: texts, query }, console);
    if (!given) return console.exit(EXIT.usage);
    const input: Input = id === 'offers.search' ? { ...ONLY_FREE, ...given } : given;
    const { perform } = await import('./perform.ts');
    console.exit(await perform(id, input, options, console));
  });
}
