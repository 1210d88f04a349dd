import { Command } from 'commander';
import { loadConnection } from '../../config/command-settings.ts';
import { printLine, type Console } from '../console.ts';

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
