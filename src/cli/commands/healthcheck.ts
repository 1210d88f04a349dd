import { Command } from 'commander';
import { localDaemonUrl } from '../../config/local-daemon.ts';
import { EXIT } from '../exit-codes.ts';
import { printError } from '../output.ts';

const TIMEOUT_MS = 3_000;

export function healthcheckCommand(): Command {
  return new Command('healthcheck')
    .description('exit 0 if the local daemon is live: for container health checks without a shell')
    .option('--url <url>', 'address of the daemon; default: this machine, at the port of PILOTLIGHT_LISTEN')
    .action(async (options: { url?: string }) => {
      const url = `${options.url ?? localDaemonUrl()}/livez`;
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
        if (response.ok) return;
        printError(`${url} answered ${response.status}: ${await response.text()}`);
      } catch (error) {
        const { message, cause } = error as Error;
        printError(`${url} does not answer: ${cause instanceof Error ? cause.message : message}`);
      }
      process.exitCode = EXIT.unreachable;
    });
}
