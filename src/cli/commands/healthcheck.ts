import { Command } from 'commander';
import { EXIT } from '../../config/exit-codes.ts';
import { printError, type Console } from '../console.ts';
import { daemonAddress, daemonUrlOption, type DaemonFlags } from '../flag-types.ts';

const TIMEOUT_MS = 3_000;

export function healthcheckCommand(console: Console): Command {
  return new Command('healthcheck')
    .description('Exit with 0 if the local daemon is live: for container health checks without a shell')
    .addOption(daemonUrlOption())
    .action(async (options: DaemonFlags) => {
      const url = `${daemonAddress(console, options)}/livez`;
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
        if (response.ok) return;
        printError(console, `${url} answered ${response.status}: ${await response.text()}`);
      } catch (error) {
        const { message, cause } = error as Error;
        printError(console, `${url} does not answer: ${cause instanceof Error ? cause.message : message}`);
      }
      console.exit(EXIT.unreachable);
    });
}
