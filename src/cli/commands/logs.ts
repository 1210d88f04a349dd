import { Command, InvalidArgumentError } from 'commander';
import type { Client } from '../../client/client.ts';
import { LIMITS } from '../../contract/limits.ts';
import { id as idSchema } from '../../contract/schemas.ts';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { parseDuration } from '../../config/value-types.ts';
import { wholeNumber, CONNECTION, examples, profileOption, type ProfileFlag } from '../flag-types.ts';
import type { Console } from '../console.ts';
import { usableConnection } from '../logins.ts';
import type { LogFormat } from '../logs/print.ts';
import type { LogSource } from '../../logs/record.ts';

interface LogsFlags extends Pick<LogFormat, 'json' | 'timestamps'>, ProfileFlag {
  readonly follow?: boolean;
  readonly tail: number;
  readonly since?: number;
  readonly level?: readonly string[];
  readonly grep?: RegExp;
  readonly endpoint?: string;
  readonly color: boolean;
}

const MOST = LIMITS.logTailMax;
const TAIL = wholeNumber(1, MOST, `a number of lines from 1 to ${MOST}, which is the most the service has`);

export function logsCommand(console: Console): Command {
  const command = new Command('logs');
  return command
    .description("Print a worker group's log, or an endpoint's; with -f follow it, each line once")
    .argument('[group]', 'worker group: its id, or the name of the endpoint that it serves')
    .option(
      '--endpoint <endpoint>',
      'the log of an endpoint itself, by name or id: what its engine decides, and why',
    )
    .option('-f, --follow', 'follow the log until Ctrl-C')
    .option('--tail <lines>', 'start with the last lines of each level, so many', TAIL, MOST)
    .option('--since <time>', 'begin with the lines since 10m ago, or since 2026-11-27T08:00:00Z', parseSince)
    .option('--level <levels>', 'show these levels only, such as info1,debug', parseLevels)
    .option('--grep <pattern>', 'show the lines that match a regular expression', parsePattern)
    .option('--timestamps', 'begin each line with the time at which it was read')
    .option('--no-color', 'show no colours')
    .addOption(profileOption())
    .option('--json', 'print one JSON record a line, as the daemon does')
    .addHelpText(
      'after',
      CONNECTION +
        '\n--since goes by the times that stand in the lines; those without a zone count as UTC.' +
        '\nWith -f, stderr reports gaps (lines that the service lost before they could be read) and delays.' +
        `\n${examples('logs 7 -f', 'logs chat --since 10m --grep "error|OOM"', 'logs --endpoint chat --json --tail 200')}\n\n${exitCodesText()}`,
    )
    .action(async (group: string | undefined, flags: LogsFlags) => {
      if ((group === undefined) === (flags.endpoint === undefined))
        command.error('error: name either a worker group or --endpoint', { exitCode: EXIT.usage });
      const connection = usableConnection(console, flags);
      if (!connection) return console.exit(EXIT.usage);
      const { follow = false, tail, since, level: levels = [], grep, color, json, timestamps } = flags;
      const { createClient } = await import('../../client/client.ts');
      await using client = createClient(connection);
      const source = await findLog(client, group, flags.endpoint);
      const colour = color && console.hasColours;
      const format = { colour, ...(json && { json }), ...(timestamps && { timestamps }) };
      const wanted = { source, tail, since, levels, grep, format };
      if (follow) {
        const { followLog } = await import('../logs/follow.ts');
        console.exit(await followLog(connection, wanted, console));
      } else {
        const { printLog } = await import('../logs/print.ts');
        await printLog(client, wanted, console);
      }
    });
}

/** Of a worker group, by id or endpoint, or of an endpoint. @throws CommandError, CallError */
async function findLog(
  client: Client,
  group: string | undefined,
  endpoint: string | undefined,
): Promise<LogSource> {
  const { resolveNames } = await import('../operations/names.ts');
  const { coerceText } = await import('../../wire/coerce.ts');
  const given = coerceText(idSchema, endpoint ?? group ?? '');
  const operation = endpoint === undefined ? 'workergroups.logs' : 'endpointGroups.logs';
  const { id: found } = await resolveNames(operation, { id: given }, client, {});
  const id = Number(found);
  if (endpoint === undefined) return { kind: 'workergroup', id };
  return { kind: 'endpoint', id, name: typeof given === 'number' ? `#${id}` : endpoint };
}

function parseSince(text: string): number {
  const ago = parseDuration(text);
  // Date.parse takes 10 for October.
  const at = ago === undefined ? Date.parse(/^\d{4}-\d\d/.test(text) ? text : '') : Date.now() - ago;
  if (Number.isNaN(at))
    throw new InvalidArgumentError('how long ago, such as 10m, or a time such as 2026-11-27T08:00:00Z');
  return at;
}

function parseLevels(text: string): readonly string[] {
  const levels = text.split(',').map((level) => level.trim());
  const wrong = levels.find((level) => !LEVELS.has(level));
  if (wrong !== undefined) throw new InvalidArgumentError(`levels are ${[...LEVELS].join(', ')}`);
  return levels;
}

const LEVELS: ReadonlySet<string> = new Set(['info0', 'info1', 'trace', 'debug']);

function parsePattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (error) {
    throw new InvalidArgumentError(`not a regular expression: ${(error as Error).message}`);
  }
}
