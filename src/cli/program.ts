/** The command line: one file a command in commands/, each loading what it needs only when it runs. */
import { Command, CommanderError } from 'commander';
import { buildInfo } from '../build-info.ts';
import { callCommand, opsCommand } from './commands/call.ts';
import { checkCommand } from './commands/check.ts';
import { demoCommand } from './commands/demo.ts';
import { emulatorCommand } from './commands/emulator.ts';
import { healthcheckCommand } from './commands/healthcheck.ts';
import { logsCommand } from './commands/logs.ts';
import { planCommand } from './commands/plan.ts';
import { runCommand } from './commands/run.ts';
import { statusCommand } from './commands/status.ts';
import { EXIT } from './exit-codes.ts';

export async function runProgram(argv: readonly string[]): Promise<void> {
  const program = new Command('pilotlight')
    .description('Keeps serverless GPU deployments lit: heartbeats, logs, parameter checks, metrics.')
    .version(buildInfo().version)
    .showHelpAfterError('(pilotlight COMMAND --help says more)')
    .exitOverride();
  for (const command of [
    runCommand(),
    demoCommand(),
    emulatorCommand(),
    checkCommand(),
    planCommand(),
    logsCommand(),
    statusCommand(),
    healthcheckCommand(),
    callCommand(),
    opsCommand(),
  ]) {
    program.addCommand(
      command.exitOverride().showHelpAfterError(`(pilotlight ${command.name()} --help says more)`),
    );
  }
  try {
    await program.parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version end this way too, with code 0.
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}
