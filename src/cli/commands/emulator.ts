import { Command, Option } from 'commander';
import { EXIT } from '../../config/exit-codes.ts';
import type { Snapshot } from '../../emulator/index.ts';
import { printError, type Console } from '../console.ts';
import { examples } from '../text/examples.ts';
import { legibleLine } from '../text/legible.ts';
import { InputError } from '../command-error.ts';
import { wholeNumber } from '../flag-types.ts';
import { untilAborted } from '../interrupts.ts';

const PORT = wholeNumber(0, 65_535, 'a port is a number from 0 to 65535');

interface EmulatorFlags {
  readonly host: string;
  readonly port: number;
  readonly seed?: string;
  readonly traits?: string;
  readonly dialect: 'spec' | 'public';
  readonly load?: readonly string[];
}

export function emulatorCommand(console: Console): Command {
  return new Command('emulator')
    .description(
      'Run a local stand-in of the whole service: in memory, without an account; it calls nothing outside',
    )
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port; 0 picks a free one', PORT, 0)
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
    .option(
      '--traits <file>',
      'JSON file with traits: switches for behaviour of the service that is not known for sure, such as its rate limit',
    )
    .option(
      '--load <endpoint=load>',
      'requests that come to an endpoint by themselves, such as chat=diurnal:500 (may be repeated)',
      (text: string, before?: readonly string[]) => [...(before ?? []), text],
    )
    .addHelpText(
      'after',
      examples(
        'emulator --port 8080 --dialect public --load chat=diurnal:500',
        'emulator --seed seed.json --traits traits.json',
      ),
    )
    .action(async (flags: EmulatorFlags) => {
      const { SeedError, TraitsError } = await import('../../emulator/index.ts');
      try {
        await console.interruptible((signal) => serve(flags, console, signal));
      } catch (error) {
        printError(console, `error: ${(error as Error).message}`);
        const isUsage = [SeedError, TraitsError, InputError].some((kind) => error instanceof kind);
        console.exit(isUsage ? EXIT.usage : EXIT.failed);
      }
    });
}

async function serve(
  { host, port, dialect, seed: file, traits: traitsFile, load: flags = [] }: EmulatorFlags,
  { out }: Console,
  signal: AbortSignal,
): Promise<void> {
  const { readSeedFile, readTraitsFile, startEmulator } = await import('../../emulator/index.ts');
  const { withLoads } = await import('../load-flag.ts');
  const seed = withLoads(file === undefined ? {} : await readSeedFile(file), flags);
  const traits = traitsFile === undefined ? {} : await readTraitsFile(traitsFile);
  const options = { host, port, dialect, seed, traits };
  await using emulator = await startEmulator(options);
  // At once: a reader that leaves after the first line, as `head -1` does, must not end the emulator now and then.
  out(
    [
      `emulator listening on ${emulator.url} (API key: ${emulator.apiKey}; dialect: ${dialect})`,
      ...contentsOf(emulator.snapshot()),
      `its interface to read and try: ${emulator.url}/docs`,
      `to reach it: export PILOTLIGHT_BASE_URL=${emulator.url} PILOTLIGHT_API_KEY=${emulator.apiKey}`,
      '',
    ].join('\n'),
  );
  await untilAborted(signal);
}

/** The contents at the start: one line for each kind, with ids and names. */
function contentsOf({ state }: Snapshot): string[] {
  const kinds: readonly [string, readonly string[]][] = [
    ['API keys', Array.from(state.keys, ([value, { name }]) => `${value} (${name})`)],
    ['deployments', ids(state.deployments, ({ name, tag }) => `${name}/${tag}`)],
    ['endpoints', ids(state.endpointGroups, ({ parameters }) => parameters.endpoint_name)],
    ['worker groups', ids(state.workerGroups, ({ endpointId }) => endpointId && `of endpoint ${endpointId}`)],
    ['instances', ids(state.instances, ({ label }) => label)],
    ['machines', ids(state.machines)],
    ['templates', ids(state.templates, ({ content }) => content.name)],
    ['offers', ids(state.offers)],
  ];
  return kinds.flatMap(([kind, items]) =>
    items.length === 0 ? [] : [legibleLine(`  ${kind.padEnd(13)}  ${listed(items)}`)],
  );
}

function ids<Row>(rows: ReadonlyMap<number, Row>, name: (row: Row) => unknown = () => ''): string[] {
  return Array.from(rows, ([id, row]) => {
    const text = name(row);
    return typeof text === 'string' && text !== '' ? `${id} (${text})` : String(id);
  });
}

/** A seed may have thousands. */
const MOST_LISTED = 8;

function listed(items: readonly string[]): string {
  const further = items.length - MOST_LISTED;
  return items.slice(0, MOST_LISTED).join(', ') + (further > 0 ? ` and ${further} more` : '');
}
