/** The load that the flags describe: a trace, or one made up. */
import {
  type Arrival,
  type ArrivalStream,
  generateLoad,
  GENERATOR_DEFAULTS,
  type RequestSizes,
} from '../../../scaling/planner/load.ts';
import { InputError } from '../../command-error.ts';
import { kebab } from '../../operations/flags.ts';
import type { PlanFlags } from '../flags.ts';
import { number } from '../../text/legible.ts';
import { openTrace } from './trace.ts';
import type { TraceColumns } from './columns.ts';

export interface LoadSource {
  /** `azure-llm-2023-conv.csv`, or `made up: diurnal, 500 units/s`. */
  readonly name: string;
  readonly work: string;
  /** Guessed from the names of the columns, as --weight takes it: `GeneratedTokens=1`. */
  readonly guessedWeights: readonly string[];
  /** Can be read once. */
  readonly arrivals: ArrivalStream;
}

const MADE_UP = 'rate duration sizes peakRatio period burstRatio burstEvery burstLength seeds'.split(
  ' ',
) as (keyof PlanFlags)[];

export async function loadSource(flags: PlanFlags, seed: number): Promise<LoadSource> {
  const which = '--trace FILE of real requests, or one made up, such as --load diurnal --rate 500';
  if (flags.trace !== undefined && flags.load !== undefined)
    throw new InputError(`two loads, and one is planned for: ${which}`);
  if (flags.trace === undefined && flags.load === undefined) throw new InputError(`which load? ${which}`);
  const given = flags.trace === undefined ? [] : MADE_UP.filter((name) => flags[name] !== undefined);
  if (given.length > 0)
    throw new InputError(`${given.map((name) => `--${kebab(name)}`).join(', ')}: only of a made-up load`);
  return flags.load === undefined ? await traced(flags) : madeUp(flags, seed);
}

async function traced(flags: PlanFlags): Promise<LoadSource> {
  const path = flags.trace ?? '-';
  const { columns, arrivals } = await openTrace(path, flags);
  const name = path === '-' ? 'standard input' : path.replace(/^.*\//, '');
  const weights = columns.work.map((column) => `${column.name}=${column.weight}`);
  return { name, work: formula(columns), guessedWeights: columns.guessed ? weights : [], arrivals };
}

function formula({ work, base }: TraceColumns): string {
  const terms = work.map(({ name, weight }) => (weight === 1 ? name : `${number(weight)} × ${name}`));
  return [...(base > 0 ? [number(base)] : []), ...terms].join(' + ');
}

function madeUp(flags: PlanFlags, seed: number): LoadSource {
  const { load: shape = 'constant', rate, requestWork, duration, sizes, peakRatio, period } = flags;
  if (rate === undefined)
    throw new InputError('how much load? Say --rate UNITS, the mean work that arrives a second');
  const described = {
    shape,
    unitsPerSecond: rate,
    unitsPerRequest: requestWork,
    seconds: duration,
    sizes,
    peakRatio,
    periodSeconds: period,
    burstRatio: flags.burstRatio,
    burstEverySeconds: flags.burstEvery,
    burstSeconds: flags.burstLength,
  };
  const given = Object.fromEntries(Object.entries(described).filter(([, value]) => value !== undefined));
  const load = generateLoad({ shape, unitsPerSecond: rate, seed, ...given });
  return {
    name: `made up: ${shape}, ${number(rate)} units/s on average`,
    work: WORK[shape === 'constant' ? 'fixed' : (sizes ?? GENERATOR_DEFAULTS.sizes)],
    guessedWeights: [],
    arrivals: inPieces(load),
  };
}

const WORK: Readonly<Record<RequestSizes, string>> = {
  exponential: 'exponentially distributed',
  fixed: 'the same for all',
  'heavy-tailed': 'log-normally distributed, its standard deviation three times its mean',
};

const PIECE = 4096;

/** Signals are heard between two pieces. @throws the reason of `signal` */
export async function* inPieces(load: Iterable<Arrival>, signal?: AbortSignal): ArrivalStream {
  let piece: Arrival[] = [];
  for (const arrival of load) {
    piece.push(arrival);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = [];
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
  yield piece;
}
