/** `emulator`, and `demo`, which runs one with the daemon. */
import { Command, Option } from 'commander';
import { EXIT } from '../../config/exit-codes.ts';
import type { Seed, Snapshot } from '../../emulator/index.ts';
import { printError, type Console, InputError, untilAborted } from '../console.ts';
import { examples, wholeNumber, timerMilliseconds } from '../flag-types.ts';
import { legibleLine } from '../text.ts';
import type { LoadInput } from '../../emulator/state/serverless.ts';

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
  const { DEFAULT_SEED, readSeedFile, readTraitsFile, startEmulator } =
    await import('../../emulator/index.ts');
  const seed = file === undefined ? {} : await readSeedFile(file);
  const { endpoint_groups: groups = DEFAULT_SEED.endpoint_groups } = seed;
  const loaded = flags.length === 0 ? seed : { ...seed, endpoint_groups: withLoads(groups ?? [], flags) };
  const traits = traitsFile === undefined ? {} : await readTraitsFile(traitsFile);
  await using emulator = await startEmulator({ host, port, dialect, seed: loaded, traits });
  const reachable = emulator.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  // In one piece: a reader that leaves after the first line, as `head -1` does, must not end the emulator.
  out(
    [
      `emulator listening on ${emulator.url} (API key: ${emulator.apiKey}; dialect: ${dialect})`,
      ...contentsOf(emulator.snapshot()),
      `its interface to read and try: ${reachable}/docs`,
      `to reach it: export PILOTLIGHT_BASE_URL=${reachable} PILOTLIGHT_API_KEY=${emulator.apiKey}`,
      '',
    ].join('\n'),
  );
  await untilAborted(signal);
}

/** The groups with the loads of `chat=diurnal:500`. Starting checks shape and rate. @throws InputError */
function withLoads(groups: NonNullable<Seed['endpoint_groups']>, flags: readonly string[]) {
  const loaded = [...groups];
  for (const flag of flags) {
    const [, name, shape, rate] = /^([^=]+)=([^:]+):(.+)$/.exec(flag) ?? [];
    const allowed = groups.map((group) => group.endpoint_name).join(', ');
    if (name === undefined)
      throw new InputError(`--load ${flag}: allowed: ENDPOINT=SHAPE:RATE, such as chat=diurnal:500`);
    const index = groups.findIndex((group) => group.endpoint_name === name);
    const group = loaded[index];
    if (!group) throw new InputError(`--load ${flag}: no endpoint ${name}; allowed: ${allowed}`);
    loaded[index] = { ...group, load: { shape, rate: Number(rate) } as LoadInput };
  }
  return loaded;
}

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
  return kinds.flatMap(([kind, items]) => {
    const further = items.length > MOST_LISTED ? ` and ${items.length - MOST_LISTED} more` : '';
    const line = `  ${kind.padEnd(13)}  ${items.slice(0, MOST_LISTED).join(', ')}${further}`;
    return items.length === 0 ? [] : [legibleLine(line)];
  });
}

function ids<Row>(rows: ReadonlyMap<number, Row>, name: (row: Row) => unknown = () => ''): string[] {
  return Array.from(rows, ([id, row]) => {
    const text = name(row);
    return typeof text === 'string' && text !== '' ? `${id} (${text})` : String(id);
  });
}

const MOST_LISTED = 8;

export function demoCommand(console: Console): Command {
  return new Command('demo')
    .description('Run the emulator and the daemon together, in one terminal, until Ctrl-C')
    .option('--for <duration>', 'end by itself after a duration such as 20s', timerMilliseconds)
    .addHelpText(
      'after',
      `${examples('demo', 'demo --for 20s')}\n\nExit codes: 0 no deployment expired, 1 one did.`,
    )
    .action(async (options: { for?: number }) => {
      const { runDemo } = await import('../demo/demo.ts');
      console.exit(await console.interruptible((signal) => runDemo(options.for, console, signal)));
    });
}
