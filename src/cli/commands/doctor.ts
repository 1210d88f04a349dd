import { Command } from 'commander';
import type { Console } from '../console.ts';
import type { DoctorFlags } from '../doctor/run-doctor.ts';
import { daemonOf, daemonUrlOption, positiveInteger, type DaemonFlags } from '../flag-types.ts';
import { profileOption } from '../login/connection.ts';
import { examples } from '../text/examples.ts';

export function doctorCommand(console: Console): Command {
  return new Command('doctor')
    .description(
      'Print how the live service really behaves, asked with reads alone, and what that means here',
    )
    .option('--deployment <id>', 'send one heartbeat to this deployment, which is harmless', positiveInteger)
    .option('--report <file>', 'write what was found without secrets and names, to attach to an issue')
    .addOption(daemonUrlOption())
    .addOption(profileOption())
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      '\nReads the environment that run reads; without a key there, what login has stored.' +
        '\nIf a daemon runs here, doctor starts from its findings, and uses only the requests that it leaves free.' +
        '\nAt the first 429 it asks no more.' +
        `\n${examples('doctor', 'doctor --report doctor.json', 'doctor --deployment 42 --json')}` +
        '\n\nExit codes: 0 all well, 1 something is off, 2 configuration, 3 no answer, 4 the key is refused.',
    )
    .action(async (flags: DoctorFlags & DaemonFlags) => {
      const { runDoctor } = await import('../doctor/run-doctor.ts');
      console.exit(await runDoctor(daemonOf(console, flags), flags, console));
    });
}
