/** The load of an endpoint: requests that come by themselves, made up or from a trace. Rates in work units a second. */
import * as z from 'zod';

/**
 * A load is made up for real, request by request, also for a day that a clock passes over: what no service takes would
 * keep the emulator busy for ever.
 */
const MOST_REQUESTS_A_SECOND = 10_000;
const MOST_WORK = 1e12;
const LEAST_SECONDS = 1;

const positive = z.number().positive();
const workUnits = positive.max(MOST_WORK);
const seconds = z.number().min(LEAST_SECONDS);

const generatedLoad = z.strictObject({
  shape: z
    .enum(['constant', 'poisson', 'diurnal', 'bursts'])
    .describe(
      'constant: evenly spaced; poisson: at random; diurnal: at random, rising and falling over a day, lowest at its start; bursts: at random, more now and then',
    ),
  rate: workUnits.describe('work that arrives a second, in the mean, in units of performance'),
  request_work: workUnits.default(100).describe('work of a request, in the mean'),
  sizes: z.enum(['exponential', 'fixed']).default('exponential').describe('how the work of requests varies'),
  peak_ratio: z.number().min(1).default(4).describe('diurnal: highest rate over lowest'),
  period_seconds: seconds.default(86_400).describe('diurnal: from one low to the next'),
  burst_ratio: z.number().min(1).default(5).describe('bursts: rate in a burst over the rate outside'),
  burst_every_seconds: seconds.default(600).describe('bursts: mean time between them'),
  burst_seconds: seconds.default(60).describe('bursts: how long each lasts'),
  seed: z.int().optional().describe('of its random numbers; absent: the setting randomSeed'),
});

const traceLoad = z.strictObject({
  shape: z.literal('trace'),
  at_seconds: z
    .array(z.number().nonnegative())
    .min(1)
    .refine((times) => times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0)), {
      message: 'not in order of time',
    })
    .describe('when each request comes, from the start of the load'),
  work: z.array(z.number().nonnegative().max(MOST_WORK)).describe('work of each request'),
  loop: z.boolean().default(true).describe('from the start again when it is over'),
  period_seconds: positive
    .optional()
    .describe('how long one round takes; absent: until the last request, and one gap between requests more'),
});

/** As a seed, the admin API and the command line give it. */
export const loadSchema = z
  .discriminatedUnion('shape', [generatedLoad, traceLoad])
  .superRefine((load, context) => {
    const wrong = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const tooMany = (path: string, requests: number, how: string) => {
      if (requests <= MOST_REQUESTS_A_SECOND) return;
      const shown = Number(requests.toPrecision(3));
      wrong(path, `at most ${MOST_REQUESTS_A_SECOND} requests a second; ${how} is ${shown}`);
    };
    if (load.shape !== 'trace') {
      const ratio = load.shape === 'bursts' ? load.burst_ratio : 1;
      tooMany(
        'rate',
        (load.rate / load.request_work) * ratio,
        'rate / request_work, × burst_ratio of bursts,',
      );
      return;
    }
    const requests = load.at_seconds.length;
    const period = load.period_seconds ?? roundOf(load.at_seconds);
    if (load.loop) tooMany('period_seconds', requests / period, 'the length of at_seconds / period_seconds');
    if (load.work.length !== requests) {
      wrong('work', `${load.work.length} numbers, where at_seconds has ${requests}`);
    }
    const last = load.at_seconds.at(-1) ?? 0;
    if (load.period_seconds !== undefined && load.period_seconds < last) {
      wrong('period_seconds', `at least ${last}, when the last request comes`);
    }
  });
export type LoadInput = z.input<typeof loadSchema>;
type ParsedLoad = z.output<typeof loadSchema>;

export type GeneratedLoadSpec = Omit<Extract<ParsedLoad, { readonly rate: number }>, 'seed'> & {
  readonly seed: number;
};

export interface TraceLoadSpec {
  readonly shape: 'trace';
  readonly times: Float64Array;
  readonly works: Float64Array;
  readonly loop: boolean;
  readonly period_seconds: number;
}

export interface LoadRecord {
  readonly spec: GeneratedLoadSpec | TraceLoadSpec;
  /** When it began, Unix ms. */
  readonly sinceMs: number;
  /** Another one for each load that an endpoint gets. */
  readonly revision: number;
}

export function loadRecord(
  load: ParsedLoad,
  around: Omit<LoadRecord, 'spec'> & { seed: number },
): LoadRecord {
  const { seed, ...record } = around;
  if (load.shape !== 'trace') return { spec: { ...load, seed: load.seed ?? seed }, ...record };
  const { at_seconds: times, work, loop, period_seconds: period = roundOf(times) } = load;
  const spec = { shape: load.shape, times: Float64Array.from(times), works: Float64Array.from(work), loop };
  return { spec: { ...spec, period_seconds: period }, ...record };
}

/** Until the last request, and the mean gap between two more, so that a looped trace keeps its rate. */
function roundOf(times: readonly number[]): number {
  const last = times.at(-1) ?? 0;
  return last === 0 ? 1 : (last * times.length) / Math.max(1, times.length - 1);
}
