import { Command } from 'commander';
import { createClient } from '../../client/client.ts';
import { ApiError, PilotlightError } from '../../client/errors.ts';
import { adviceOf } from '../../client/flows/explain.ts';
import { OPERATION_IDS, operationOf } from '../../contract/operations.ts';
import { nearestName } from '../../contract/nearest-name.ts';
import { describeProblem } from '../../daemon/config/describe.ts';
import { loadConnection } from '../../daemon/config/load.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { printError, printJson, printLine } from '../output.ts';

export function opsCommand(): Command {
  return new Command('ops')
    .description('the operations of the interface')
    .option('--json', 'as a JSON array')
    .action((options: { json?: boolean }) => {
      const rows = OPERATION_IDS.map((id) => {
        const { method, path, base, origin, source, summary } = operationOf(id);
        return { id, method, path, base, origin, source, summary };
      });
      if (options.json) return printJson(rows);
      const width = Math.max(...rows.map(({ id }) => id.length));
      for (const { id, origin, summary } of rows) {
        printLine(`${id.padEnd(width)}  ${summary}${origin === 'interface' ? '' : ` (${origin})`}`);
      }
    });
}

export function callCommand(): Command {
  return new Command('call')
    .description('any operation of the interface by its id; prints the answer as JSON')
    .argument('<operation>', 'id from `pilotlight ops`, such as deployments.heartbeat')
    .argument('[json]', 'path parameters, query and body fields in one object, such as \'{"id":42}\'', '{}')
    .addHelpText(
      'after',
      '\nUses PILOTLIGHT_API_KEY, PILOTLIGHT_BASE_URL and PILOTLIGHT_SERVERLESS_URL.' +
        '\nExit codes: 0 done, 1 refused by the service, 2 wrong usage, 3 not reachable, 4 not authorized.',
    )
    .action(async (operation: string, text: string) => {
      process.exitCode = await call(operation, text);
    });
}

async function call(operation: string, text: string): Promise<number> {
  const id = OPERATION_IDS.find((known) => known === operation);
  const input = parseObject(text);
  const { connection, problems } = loadConnection();
  const complaints = [
    ...(id ? [] : [unknownOperation(operation)]),
    ...(input ? [] : [`error: the second argument is not a JSON object: ${text}`]),
    ...problems.map((problem) => describeProblem(problem)),
  ];
  if (!id || !input || !connection) {
    for (const complaint of complaints) printError(complaint);
    return EXIT.usage;
  }
  await using client = createClient(connection);
  return await send(client.call(id, input));
}

async function send(answer: Promise<unknown>): Promise<number> {
  try {
    printJson(await answer);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof PilotlightError)) throw error;
    printError(`error: ${error.message}`);
    const advice = error instanceof ApiError ? adviceOf(error) : '';
    if (advice !== '') printError(advice);
    return exitCodeOf(error);
  }
}

function unknownOperation(operation: string): string {
  const nearest = nearestName(operation, OPERATION_IDS);
  return `error: no operation ${operation}; ${nearest ? `did you mean ${nearest}?` : 'see pilotlight ops'}`;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
