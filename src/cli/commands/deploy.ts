/**
 * `deployment deploy ARCHIVE`: hashes an archive, makes the deployment, and posts the archive. Its flags are those of
 * `deployment create`, but for what the archive says itself.
 */
import { Command } from 'commander';
import type { DeployedArchive, DeployProgress, DeployRequest } from '../../client/flows/deploy.ts';
import { operationOf } from '../../contract/operations.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { printError, type Console } from '../console.ts';
import { legibleLine } from '../text/legible.ts';
import { addFlags, addSharedOptions, readFields, type CommandOptions } from '../operations/fields.ts';
import { flagsOf } from '../operations/flags.ts';
import type { Act } from '../operations/perform.ts';
import type { ProgressBar } from '../plan/progress.ts';

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
  const { perform } = await import('../operations/perform.ts');
  const { progressBar } = await import('../plan/progress.ts');
  return await console.interruptible(async (signal) => {
    const archive = await openArchive(path, signal);
    const bar = progressBar(console);
    let made: number | undefined;
    const act: Act = async (client, complete) => {
      const fields = Object.entries(complete).filter(([field]) => !SAID_BY_ARCHIVE.has(field));
      try {
        const deployed = await deployArchive(client, {
          archive,
          // Checked against the contract before anything is sent.
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
        if (made !== undefined)
          printError(
            console,
            `Deployment ${made} was made, but its archive is not uploaded; the same command again does that.`,
          );
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

/** In the words of the contract. */
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
