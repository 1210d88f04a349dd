/** The command line: the commands in commands/ load what they need when they run. */
import { Command, CommanderError } from 'commander';
import { buildInfo } from '../build-info.ts';
import {
  adminCommand,
  billCommand,
  fleetCommand,
  healthcheckCommand,
  runCommand,
  statusCommand,
} from './commands/daemon.ts';
import { callCommand, opsCommand, openapiCommand } from './commands/call.ts';
import { checkCommand, doctorCommand, planCommand } from './commands/check.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { demoCommand, emulatorCommand } from './commands/emulator.ts';
import { loginCommand, logoutCommand } from './logins.ts';
import { logsCommand } from './commands/logs.ts';
import { EXIT } from '../config/exit-codes.ts';
import { processConsole, type Console } from './console.ts';

/** Never rejects for the user's mistakes: it prints them and sets the exit code. */
export async function runProgram(argv: readonly string[], console: Console = processConsole()) {
  const program = await createProgram(console, argv.slice(2));
  try {
    await program.parseAsync(argv);
  } catch (error) {
    // Help and version end with an error too, of code 0.
    if (error instanceof CommanderError) return console.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage);
    const { tellFailure } = await import('./exit-code.ts');
    console.exit(tellFailure(console, error));
  }
}

/** @param words Those behind its name: commands that they cannot select are not built. Default: all */
export async function createProgram(console: Console, words?: readonly string[]): Promise<Command> {
  const program = new Command('pilotlight')
    .description('Keeps serverless GPU deployments alive: heartbeats, logs, parameter checks, metrics.')
    .version(buildInfo().version, '-V, --version', 'print the version')
    .configureOutput({
      writeOut: (text) => console.out(text),
      writeErr: (text) => console.err(text),
      // An unexpected word may be a secret.
      outputError: (text, write) =>
        write(text.replace(/(unknown option '-[^'=]*)=[^']*'/, "$1'").replace(/(but got \d+): .*/, '$1.')),
    })
    .showHelpAfterError('(pilotlight COMMAND --help says more)')
    .exitOverride();
  program.commandsGroup('Commands:');
  const commands = [
    runCommand(),
    demoCommand(console),
    emulatorCommand(console),
    checkCommand(console),
    doctorCommand(console),
    planCommand(console),
    logsCommand(console),
    statusCommand(console),
    fleetCommand(console),
    billCommand(console),
    healthcheckCommand(console),
    loginCommand(console),
    logoutCommand(console),
    adminCommand(console),
    callCommand(console),
    opsCommand(console),
    openapiCommand(console),
    completionCommand(console),
  ];
  for (const command of commands) adopt(program, command);
  // Other commands need not wait for those of the whole contract.
  if (!commands.some((command) => command.name() === words?.[0])) {
    const { operationCommands } = await import('./operations/commands.ts');
    program.commandsGroup('Operations of the service:');
    for (const command of operationCommands(console, words)) adopt(program, command);
  }
  program.addCommand(completeCommand(program, console), { hidden: true });
  return program;
}

function adopt(parent: Command, command: Command, path = `${parent.name()} ${command.name()}`): void {
  if (!parent.commands.includes(command)) parent.addCommand(command);
  command.copyInheritedSettings(parent).showHelpAfterError(`(${path} --help says more)`);
  for (const child of command.commands) adopt(command, child, `${path} ${child.name()}`);
}
