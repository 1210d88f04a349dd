/** Commands of the interface as a whole: `ops`, `call`, `openapi`. */
import { Command } from 'commander';
import { nearestName } from '../../contract/text/nearest-name.ts';
import { OPERATION_IDS, operationOf } from '../../contract/operations.ts';
import { EXIT, exitCodesText } from '../../config/exit-codes.ts';
import { CONNECTION, examples, addCallOptions } from '../flag-types.ts';
import { printError, printLine, type Console, parseObject } from '../console.ts';
import type { PerformOptions } from '../operations/perform.ts';
import { loadConnection } from '../../config/command-settings.ts';

export function opsCommand(console: Console): Command {
  return new Command('ops')
    .description('List the operations of the interface')
    .option('--json', 'print them as a JSON array')
    .action(async (options: { json?: boolean }) => {
      const { commandOf } = await import('../operations/names.ts');
      const rows = OPERATION_IDS.map((id) => {
        const { method, path, base, origin, source, summary, replacedBy } = operationOf(id);
        const deprecated = replacedBy !== undefined;
        return { id, command: commandOf(id), method, path, base, origin, source, summary, deprecated };
      });
      if (options.json) return printLine(console, JSON.stringify(rows, null, 2));
      const { table } = await import('../text.ts');
      const cells = rows.map(({ id, command, summary, source }) => [id, command, summary, source]);
      for (const line of table(['operation', 'command', 'does', 'source'], cells, console)) {
        printLine(console, line);
      }
    });
}

export function callCommand(console: Console): Command {
  const command = new Command('call')
    .description('Call any operation of the interface by its id, and print the answer as JSON')
    .argument('<operation>', 'id from `pilotlight ops`, such as deployments.heartbeat')
    .argument(
      '[json]',
      'path parameters, query and body fields in one object, such as \'{"id":42}\'; - reads it from standard input',
      '{}',
    )
    .addHelpText(
      'after',
      [
        CONNECTION,
        examples(
          `call deployments.heartbeat '{"id":42}'`,
          'call instances.create - --dry-run < request.json',
        ),
        '',
        exitCodesText(),
      ].join('\n'),
    )
    .action(async (operation: string, text: string, options: PerformOptions) => {
      const { perform } = await import('../operations/perform.ts');
      const id = OPERATION_IDS.find((known) => known === operation);
      const input = parseObject(text === '-' ? await console.read('-') : text);
      if (!id) printError(console, unknownOperation(operation));
      // It may have secrets in it.
      if (!input) printError(console, 'error: the second argument is not a JSON object');
      const json = { ...options, json: !options.dryRun, fields: true };
      console.exit(id && input ? await perform(id, input, json, console) : EXIT.usage);
    });
  return addCallOptions(command);
}

function unknownOperation(operation: string): string {
  const nearest = nearestName(operation, OPERATION_IDS);
  return `error: no operation ${operation}; ${nearest ? `did you mean ${nearest}?` : 'see pilotlight ops'}`;
}

export function openapiCommand(console: Console): Command {
  return new Command('openapi')
    .description('Print the OpenAPI 3.1 document of the interface')
    .addHelpText(
      'after',
      '\nPILOTLIGHT_BASE_URL and PILOTLIGHT_SERVERLESS_URL, where they are set, are its servers.' +
        '\nThe emulator serves it at /openapi.json, and to people at /docs.',
    )
    .action(async () => {
      const { openApiDocument } = await import('../../openapi/document.ts');
      const { addresses } = loadConnection(console.environment);
      printLine(console, JSON.stringify(openApiDocument(addresses), null, 2));
    });
}
