/** The table → commands, and `deployment deploy`, the one command of several operations. */
import { Argument, Command } from 'commander';
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { printError, type Console } from '../console.ts';
import { addFlags, addSharedOptions, readFields, type CommandOptions } from './fields.ts';
import { flagsOf } from './flags.ts';
import { takesQuery, type Input } from './input.ts';
import { commandGroups, namedField } from './names.ts';
import type { DeployedArchive, DeployProgress, DeployRequest } from '../../client/flows/deploy.ts';
import { legibleLine } from '../text/legible.ts';
import type { Act } from './perform.ts';
import type { ProgressBar } from '../progress.ts';

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

const ID = 'deployments.create';
const SAID_BY_ARCHIVE: ReadonlySet<string> = new Set(['file_hash', 'file_size']);
const MEGABYTE = 1_000_000;

export function deployCommand(console: Console): Command {
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
    const input = readFields(command, flags, { base: options.input }, console);
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
  const { progressBar } = await import('../progress.ts');
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
        return shown(deployed);
      } catch (error) {
        bar.end();
        const rest = 'but its archive is not uploaded; the same command again does that';
        if (made !== undefined) printError(console, `Deployment ${made} was made, ${rest}.`);
        throw error;
      } finally {
        bar.end();
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
