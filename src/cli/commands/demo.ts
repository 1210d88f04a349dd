import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../config/types/value-types.ts';
import type { Console } from '../console.ts';

export function demoCommand(console: Console): Command {
  return new Command('demo')
    .description('the emulator and the daemon together, in one terminal, until Ctrl-C')
    .addOption(
      new Option('--for <duration>', 'end by itself after a duration such as 20s').argParser(parseLength),
    )
    .addHelpText('after', '\nExit codes: 0 no deployment expired, 1 one did.')
    .action(async (options: { for?: number }) => {
      const { runDemo } = await import('../demo/demo.ts');
      console.exit(await runDemo(options.for, console));
    });
}

function parseLength(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError('a duration is 500ms, 20s, 5m or 1h');
  return ms;
}
