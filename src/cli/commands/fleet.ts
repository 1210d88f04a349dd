import { Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { durationUpTo } from '../../config/types/value-types.ts';
import type { Console } from '../console.ts';
import { daemonOf, daemonUrlOption, type DaemonFlags } from '../flag-types.ts';
import type { FleetFlags } from '../fleet/watch-fleet.ts';
import { examples } from '../text/examples.ts';

/** In ms. */
function parsePace(text: string): number {
  const { value, problems } = durationUpTo('24h').parse(text);
  if (value === undefined) throw new InvalidArgumentError(problems[0]?.allowed ?? '');
  return value;
}

export function fleetCommand(console: Console): Command {
  return new Command('fleet')
    .description('Show endpoints as a running daemon sees them: load, workers, cost; live, until Ctrl-C')
    .argument('[endpoint]', 'name or id of one of them; default: all')
    .addOption(daemonUrlOption())
    .addOption(
      new Option('--every <duration>', 'time between two polls of the daemon')
        .argParser(parsePace)
        .default(2_000, '2s'),
    )
    .option('--json', 'print one JSON object a sample')
    .option('--once', 'print what there is now, and end')
    .addHelpText(
      'after',
      '\nAt a terminal, redraws a table in place; elsewhere prints a line for each sample.' +
        "\nLOAD / READY is what is asked of the endpoint's workers and what its ready ones can do, in units of work a second." +
        '\nWhat is not known is a question mark.' +
        `\n${examples('fleet', 'fleet chat --once', 'fleet --json --every 10s')}\n\n${exitCodesText()}`,
    )
    .action(async (endpoint: string | undefined, flags: FleetFlags & DaemonFlags) => {
      const { watchFleet } = await import('../fleet/watch-fleet.ts');
      const code = await watchFleet(daemonOf(console, flags), endpoint, flags, console);
      if (code !== EXIT.ok) console.exit(code);
    });
}
