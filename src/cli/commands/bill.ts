import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodesText } from '../../config/exit-codes.ts';
import { dayOf } from '../../spend/bill.ts';
import type { BillFlags } from '../bill/run-bill.ts';
import type { Console } from '../console.ts';
import { daemonOf, daemonUrlOption, type DaemonFlags } from '../flag-types.ts';
import { profileOption } from '../login/connection.ts';
import { CONNECTION, examples } from '../text/examples.ts';

const MOST_DAYS = 366;

export function billCommand(console: Console): Command {
  return new Command('bill')
    .description('Show what endpoints cost by day and kind of use, what the month will come to, and why')
    .argument('[endpoint]', 'name or id of one of them, a deleted one too; default: all')
    .option('--since <days>', 'how many days back, such as 30d, or a day such as 2026-11-01', parseSince, 30)
    .addOption(daemonUrlOption())
    .addOption(new Option('--json', 'print it as JSON').conflicts('csv'))
    .addOption(new Option('--csv', 'print a row for each day and endpoint'))
    .addOption(profileOption())
    .addHelpText(
      'after',
      [
        '\nA running daemon that watches endpoints (PILOTLIGHT_ENDPOINTS) knows all of it, for 39 days back. Without one,',
        'there is what the service billed: a question for each day, so 30 days take half a minute, and the key needs the',
        'permission billing_read. Money is in dollars, days are UTC.',
        CONNECTION,
        examples('bill', 'bill chat --since 7d', 'bill --since 2026-11-01 --csv'),
        '',
        exitCodesText(),
      ].join('\n'),
    )
    .action(async (endpoint: string | undefined, flags: BillFlags & DaemonFlags) => {
      const { runBill } = await import('../bill/run-bill.ts');
      const where = { daemon: daemonOf(console, flags), isNamed: flags.url !== undefined };
      console.exit(await runBill(where, endpoint, flags, console));
    });
}

/** Days back, today not counted. */
function parseSince(text: string): number {
  const [, days] = /^(\d+)d$/.exec(text) ?? [];
  const day = Date.parse(text);
  // A 30 February is read as a day of March.
  const begun = Number.isFinite(day) && dayOf(new Date(day)) === text ? day : Number.NaN;
  const back = days === undefined ? Math.floor((Date.now() - begun) / 86_400_000) : Number(days);
  if (back >= 0 && back <= MOST_DAYS) return back;
  throw new InvalidArgumentError(`up to ${MOST_DAYS}d, or a day in this time such as 2026-11-01.`);
}
