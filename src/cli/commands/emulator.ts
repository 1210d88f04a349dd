import { Command, InvalidArgumentError, Option } from 'commander';
import { EXIT } from '../exit-codes.ts';
import { printError, printLine } from '../output.ts';

interface EmulatorFlags {
  readonly host: string;
  readonly port: number;
  readonly seed?: string;
  readonly dialect: 'spec' | 'public';
}

export function emulatorCommand(): Command {
  return new Command('emulator')
    .description('a local stand-in of the whole service: in memory, no account, never calls out')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port; 0 picks a free one', parsePort, 0)
    .option(
      '--seed <file>',
      'JSON file with what the service contains at its start; schema at /_emulator/seed-schema',
    )
    .addOption(
      new Option(
        '--dialect <dialect>',
        'spec: the interface document, strictly; public: as the public service answers',
      )
        .choices(['spec', 'public'])
        .default('spec'),
    )
    .action(async (flags: EmulatorFlags) => {
      const { readSeedFile, SeedError, startEmulator } = await import('../../emulator/index.ts');
      try {
        const { host, port, dialect } = flags;
        const seed = flags.seed === undefined ? {} : { seed: await readSeedFile(flags.seed) };
        const emulator = await startEmulator({ host, port, dialect, ...seed });
        printLine(`emulator listening on ${emulator.url} (API key: ${emulator.apiKey}; dialect: ${dialect})`);
        printLine(`its interface to read and try: ${emulator.url}/docs`);
        await interrupted();
        await emulator.close();
      } catch (error) {
        printError(`error: ${(error as Error).message}`);
        process.exitCode = error instanceof SeedError ? EXIT.usage : 1;
      }
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535');
  return port;
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(EXIT.interrupted));
        resolve();
      });
    }
  });
}
