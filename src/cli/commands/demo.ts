import { Command } from 'commander';
import type { Console } from '../console.ts';
import { timerMilliseconds } from '../flag-types.ts';
import { examples } from '../text/examples.ts';

export function demoCommand(console: Console): Command {
  return new Command('demo')
    .description('Run the emulator and the daemon together, in one terminal, until Ctrl-C')
    .option('--for <duration>', 'end by itself after a duration such as 20s', timerMilliseconds)
    .addHelpText(
      'after',
      `${examples('demo', 'demo --for 20s')}\n\nExit codes: 0 no deployment expired, 1 one did.`,
    )
    .action(async (options: { for?: number }) => {
      const { runDemo } = await import('../demo/demo.ts');
      console.exit(await console.interruptible((signal) => runDemo(options.for, console, signal)));
    });
}
