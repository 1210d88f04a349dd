import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../config/types/value-types.ts';
import type { Console } from '../console.ts';

export function demoCommand(console: Console): Command {
  return new Command('demo')
    .description('the emulator and the daemon together, in one terminal, until Ctrl-C')
    .addOption(
      new Option('--for <duration>', 'end by itself after a duration such as 20s').argParser(parseLength),
    )
    .addOption(
      new Option(
        '--day',
        'a day of an endpoint in a minute instead: its load, its workers, its price',
      ).conflicts('for'),
    )
    .addHelpText('after', '\nExit codes: 0 no deployment expired, 1 one did.')
    .action(async (options: { for?: number; day?: true }) => {
      if (options.day) {
        const { runDay } = await import('../demo/day/day.ts');
        return console.exit(await runDay(console));
      }
      const { runDemo } = await import('../demo/demo.ts');
      console.exit(await runDemo(options.for, console));
    });
}

function parseLength(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError('a duration is 500ms, 20s, 5m or 1h');
  return ms;
}
