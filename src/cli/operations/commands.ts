/** The table → commands, their flags and help; and the commands of several operations. */
import { Argument, Command, Option } from 'commander';
import { printError, type Console, type ProgressBar, InputError, parseObject } from '../console.ts';
import { addCallOptions, CONNECTION } from '../flag-types.ts';
import { flagsOf, type Flag } from './flags.ts';
import { queryFlags, type Input, readInput } from './input.ts';
import { commandGroups, namedField, commandOf } from './names.ts';
import type { Act, PerformOptions } from './perform.ts';
import { legibleLine } from '../text.ts';
import type { DeployedArchive, DeployProgress, DeployRequest } from '../../client/flows/deploy.ts';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { assumedParts } from '../../contract/assumptions.ts';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { sentencesOf } from '../../contract/define.ts';
import { quoteWord } from '../../contract/text/shell-words.ts';

/** @param words Only the resources that they name get their operations; default: all. */
export function operationCommands(console: Console, words?: readonly string[]): Command[] {
  return commandGroups().map(({ name, aliases, operations }) => {
    const group = new Command(name).description(operations.map((operation) => operation.name).join(', '));
    group.aliases(aliases);
    // Making flags of all schemas takes a tenth of a second.
    if (words && ![name, ...aliases].some((word) => words.includes(word))) return group;
    for (const operation of operations) {
      const command = operationCommand(operation.id, operation.name, console);
      group.addCommand(operation.alias === undefined ? command : command.alias(operation.alias));
    }
    if (operations.some(({ id }) => id === 'deployments.create')) group.addCommand(deployCommand(console));
    return group;
  });
}

/** As the vendor's command line does, a search leaves out offers that cannot be rented. */
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
  const hasQuery = queryFlags(flags).length > 0;
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
    const given = await readFields(command, flags, { base: options.input, subjects: texts, query }, console);
    if (!given) return console.exit(EXIT.usage);
    const input: Input = id === 'offers.search' ? { ...ONLY_FREE, ...given } : given;
    const { perform } = await import('./perform.ts');
    const act = ACTS[id];
    console.exit(await perform(id, input, { ...options, ...(act && { act }) }, console));
  });
}

const ACTS: Partial<Readonly<Record<OperationId, Act>>> = {
  async 'endpointGroups.create'(client, input, options) {
    await refuseBroken({}, input);
    return await client.call('endpointGroups.create', input, options);
  },
  /** A service may reset the parameters that an update leaves out (evidence 4.7): they are read and sent along. */
  async 'endpointGroups.update'(client, { id, ...changes }, options) {
    const { parametersOf, schemaOf } = await import('../../scaling/rules/check.ts');
    const { result } = await client.endpointGroups.get({ id: Number(id) }, options);
    const { endpoint_name: _, ...kept } = parametersOf(result);
    // A value that the contract refuses must not hinder another change, such as to stop.
    const valid = Object.entries(kept).filter(([name, value]) => schemaOf(name)?.safeParse(value).success);
    const before = Object.fromEntries(valid);
    await refuseBroken(before, { ...before, ...changes });
    return await client.call('endpointGroups.update', { id, ...before, ...changes }, options);
  },
};

/** The rules between parameters, as `check` has them. A rule that was broken before does not stop another change. */
async function refuseBroken(before: Input, after: Input): Promise<void> {
  const { checkEndpointGroup, parametersOf } = await import('../../scaling/rules/check.ts');
  const errorsOf = (input: Input) =>
    checkEndpointGroup(parametersOf(input)).findings.filter(({ severity }) => severity === 'error');
  const known = new Set(errorsOf(before).map(({ rule }) => rule));
  const broken = errorsOf(after).filter(({ rule }) => !known.has(rule));
  if (broken.length > 0)
    throw new InputError(
      broken.map(({ parameter, message }) => `${parameter}: ${message}`).join('\nerror: '),
    );
}

const ID = 'deployments.create';
const SAID_BY_ARCHIVE: ReadonlySet<string> = new Set(['file_hash', 'file_size']);
const MEGABYTE = 1_000_000;

function deployCommand(console: Console): Command {
  const flags = flagsOf(operationOf(ID)).filter(({ field }) => !SAID_BY_ARCHIVE.has(field));
  const command = new Command('deploy')
    .summary('Makes a deployment of an archive with its code, and uploads it')
    .description(
      'Hashes an archive, makes a deployment of it or brings the one of this name and tag up to date, and uploads the\n' +
        'archive where the service wants it. Doing it again changes nothing.',
    )
    .argument('<archive>', 'the archive with its code, such as code.tar.gz');
  addFlags(command, flags);
  addSharedOptions(command, ID, `pilotlight deployment deploy code.tar.gz --name circle --image team/app`);
  return command.action(async (path: string, options: CommandOptions) => {
    const input = await readFields(command, flags, { base: options.input }, console);
    if (!input) return console.exit(EXIT.usage);
    console.exit(await deploy(path, input, options, console));
  });
}

async function deploy(
  path: string,
  input: Readonly<Record<string, unknown>>,
  options: CommandOptions,
  console: Console,
): Promise<number> {
  const { deployArchive, openArchive } = await import('../../client/flows/deploy.ts');
  const { perform } = await import('./perform.ts');
  const { progressBar } = await import('../console.ts');
  return await console.interruptible(async (signal) => {
    const archive = await openArchive(path, signal);
    const bar = progressBar(console);
    let made: number | undefined;
    const act: Act = async (client, complete) => {
      const fields = Object.entries(complete).filter(([field]) => !SAID_BY_ARCHIVE.has(field));
      try {
        const deployed = await deployArchive(client, {
          archive,
          // The contract has checked it before anything is sent.
          request: Object.fromEntries(fields) as DeployRequest,
          signal,
          ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
          onProgress(progress) {
            if (progress.step === 'made') made = progress.deploymentId;
            tell(progress, bar, console);
          },
        });
        bar.end();
        return shown(deployed);
      } catch (error) {
        bar.end();
        const rest = 'but its archive is not uploaded; the same command again does that';
        if (made !== undefined) printError(console, `Deployment ${made} was made, ${rest}.`);
        throw error;
      }
    };
    const all = { ...input, file_hash: archive.hash, file_size: archive.content.size };
    return await perform(ID, all, { ...options, act }, console);
  });
}

function tell(progress: DeployProgress, bar: ProgressBar, console: Console): void {
  if (progress.step === 'uploading' && progress.bytes >= MEGABYTE) {
    const { sent, bytes } = progress;
    const [done, whole] = [sent, bytes].map((each) => (each / MEGABYTE).toFixed(1));
    bar.update(sent / bytes, `${done} of ${whole} MB uploaded`);
  } else if (progress.step === 'repeating') {
    bar.end();
    printError(console, `${legibleLine(progress.reason)}; trying again`);
  }
}

function shown({ deploymentId, action, endpointId, workergroupId, hash, bytes, uploaded }: DeployedArchive) {
  return {
    action,
    deployment_id: deploymentId,
    endpoint_id: endpointId,
    workergroup_id: workergroupId,
    file_hash: hash,
    file_size: bytes,
    uploaded,
  };
}

interface CommandOptions extends PerformOptions {
  readonly input?: string;
}

function addFlags(command: Command, flags: readonly Flag[]): void {
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
async function readFields(
  command: Command,
  flags: readonly Flag[],
  { base, subjects = [], query }: GivenElsewhere,
  console: Console,
): Promise<Input | undefined> {
  const given = givenTexts(command, flags);
  for (const [name, text] of subjects) {
    if (given.has(name)) return command.error(`error: ${name} is given twice: as ${text} and as --${name}`);
    given.set(name, [text]);
  }
  const { input, problems, notes } = readInput(flags, { flags: given, query }, await readBase(base, console));
  for (const note of notes) printError(console, `warning: ${note}`);
  for (const problem of problems) printError(console, `error: ${problem}`);
  return problems.length > 0 ? undefined : input;
}

/** Values stay texts here; input.ts converts them for the schema. */
function optionsOf(flag: Flag): Option[] {
  const { name, kind, takes, choices } = flag;
  if (kind === 'boolean') {
    return [new Option(`--${name}`, describe(flag)), new Option(`--no-${name}`).hideHelp()];
  }
  const option = new Option(`--${name} <${takes}>`, describe(flag));
  if (choices.length > 0) return [option.choices(choices)];
  return [option.argParser((text, earlier?: readonly string[]) => [...(earlier ?? []), text])];
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
  for (const { name } of flags) {
    const value: unknown = command.getOptionValue(new Option(`--${name}`).attributeName());
    if (value !== undefined) given.set(name, [value].flat().map(String));
  }
  return given;
}

function addSharedOptions(command: Command, id: OperationId, example?: string): Command {
  return addCallOptions(command)
    .option('--json', 'print the answer as JSON')
    .option('--input <json>', 'fields as one JSON object, @FILE, or - for standard input; flags win over it')
    .addHelpText('after', () => helpAfter(id, example));
}

async function readBase(text: string | undefined, console: Console): Promise<Input> {
  if (text === undefined) return {};
  const path = text === '-' ? '-' : text.startsWith('@') ? text.slice(1) : undefined;
  const base = parseObject(path === undefined ? text : await console.read(path));
  if (!base) throw new InputError('--input takes one JSON object, a file as @FILE, or - for standard input');
  return base;
}

function helpAfter(id: OperationId, example = exampleOf(id)): string {
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
  if (Array.isArray(value) && typeof value[0] === 'number') return value.join(',');
  return JSON.stringify(value);
}
