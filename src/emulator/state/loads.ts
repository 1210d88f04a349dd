import * as z from 'zod';

/** Each request is really made, even when the clock skips a day. */
const MOST_REQUESTS_A_SECOND = 10_000;

const workUnits = z.number().positive().max(1e12);
const seconds = z.number().min(1);

export const loadSchema = z
  .strictObject({
    shape: z
      .enum(['constant', 'poisson', 'diurnal', 'bursts'])
      .describe(
        'constant: evenly spaced; poisson: at random; diurnal: at random, rising and falling over a day, lowest at its start; bursts: at random, more now and then',
      ),
    rate: workUnits.describe('work that arrives a second, in the mean, in units of performance'),
    request_work: workUnits.default(100).describe('work of a request, in the mean'),
    sizes: z
      .enum(['exponential', 'fixed'])
      .default('exponential')
      .describe('how the work of requests varies'),
    peak_ratio: z.number().min(1).default(4).describe('diurnal: highest rate over lowest'),
    period_seconds: seconds.default(86_400).describe('diurnal: from one low to the next'),
    burst_ratio: z.number().min(1).default(5).describe('bursts: rate in a burst over the rate outside'),
    burst_every_seconds: seconds.default(600).describe('bursts: mean time between them'),
    burst_seconds: seconds.default(60).describe('bursts: how long each lasts'),
    seed: z.int().optional().describe('of its random numbers; absent: the setting randomSeed'),
  })
  .superRefine(({ shape, rate, request_work, burst_ratio }, context) => {
    const requests = (rate / request_work) * (shape === 'bursts' ? burst_ratio : 1);
    if (requests <= MOST_REQUESTS_A_SECOND) return;
    const message = `at most ${MOST_REQUESTS_A_SECOND} requests a second; rate / request_work, × burst_ratio of bursts, is ${Number(requests.toPrecision(3))}`;
    context.addIssue({ code: 'custom', path: ['rate'], message });
  });
/** Requests for an endpoint: `shape` and `rate` say how they come, in work units a second. */
export type LoadInput = z.input<typeof loadSchema>;

export interface LoadRecord {
  readonly spec: z.output<typeof loadSchema> & { readonly seed: number };
  readonly sinceMs: number;
  /** Differs for each load of an endpoint. */
  readonly revision: number;
}

export function loadRecord(
  load: z.output<typeof loadSchema>,
  { seed, ...record }: Omit<LoadRecord, 'spec'> & { seed: number },
): LoadRecord {
  return { spec: { ...load, seed: load.seed ?? seed }, ...record };
}
