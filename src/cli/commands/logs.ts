import { Command, InvalidArgumentError } from 'commander';
import { LIMITS } from '../../contract/limits.ts';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { describeProblem } from '../../config/problem.ts';
import { loadConnection } from '../../config/command-settings.ts';
import { printError, type Console } from '../console.ts';
import type { LogFormat } from '../logs/format.ts';

interface LogsFlags extends LogFormat {
  readonly follow?: boolean;
  readonly tail: number;
}

export function logsCommand(console: Console): Command {
  return new Command('logs')
    .description("prints a worker group's log; with -f follows it, each line once")
    .argument('<group>', 'worker group id', parseId)
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .option('--tail <lines>', 'begin with the last so many lines', parseTail, LIMITS.logTailMax)
    .option('--timestamps', 'begin each line with the time at which it was read')
    .option('--json', 'one JSON record a line, as the daemon prints them')
    .addHelpText(
      'after',
      '\nUses PILOTLIGHT_API_KEY, PILOTLIGHT_BASE_URL and PILOTLIGHT_SERVERLESS_URL.' +
        '\nLines that the service lost before they could be read are shown as what they are: a gap.' +
        `\n${exitCodesText()}`,
    )
    .action(async (group: number, flags: LogsFlags) => {
      const { connection, problems } = loadConnection(console.environment);
      if (!connection) {
        for (const problem of problems) printError(console, describeProblem(problem));
        return console.exit(EXIT.usage);
      }
      const { follow = false, tail, ...format } = flags;
      const wanted = { group, tail, format };
      if (follow) {
        const { followLog } = await import('../logs/follow.ts');
        console.exit(await followLog(connection, wanted, console));
      } else {
        const { printLog } = await import('../logs/print.ts');
        console.exit(await printLog(connection, wanted, console));
      }
    });
}

function parseId(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a worker group id is a whole number, such as 7');
  return Number(text);
}

function parseTail(text: string): number {
  const lines = Number(text);
  if (!/^\d+$/.test(text) || lines < 1 || lines > LIMITS.logTailMax) {
    throw new InvalidArgumentError(
      `a number of lines from 1 to ${LIMITS.logTailMax}, which is the most the service has`,
    );
  }
  return lines;
}
