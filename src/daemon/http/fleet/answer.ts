/** What /api/fleet answers: the recorded rows of each endpoint. Times are Unix seconds; what is not known is null. */
import * as z from 'zod';
import type { Aggregate, HistoryRow } from '../../../fleet/view.ts';
import { MEASURES, type Measure } from '../../../fleet/workers/measure.ts';
import { count, publishedSchema, time, type DeepReadonly } from '../../status/fact.ts';

const stretch = z.object({
  mean: z.number(),
  peak: z.number().describe('The largest'),
  samples: count.describe('In which it was known; mean times this is the exact sum'),
});

const MEASURE_NAMES = Object.keys(MEASURES) as Measure[];

/** Each over the stretch of its row. */
const measures = Object.fromEntries(
  MEASURE_NAMES.map((name) => [name, stretch.nullable().describe(MEASURES[name])]),
) as Record<Measure, z.ZodNullable<typeof stretch>>;

const row = z.object({
  from: time,
  length_seconds: z
    .number()
    .min(0)
    .describe('0: one sample; else whole minutes, hours or days. A stretch without samples has no row'),
  samples: count,
  ...measures,
  workers: z.record(z.string(), stretch).describe('By status; none where there were no workers of it'),
});

const endpoint = z.object({
  endpoint_group: z.string().describe('As metrics and status name it'),
  endpoint_id: count,
  measured: z
    .object({
      performance: z.array(z.number()).describe('Of each worker that there is, units a second'),
      start_seconds: z
        .object({ new: z.array(z.number()), cold: z.array(z.number()) })
        .describe('How long the last starts took, from nothing and from stopped'),
    })
    .describe('What is known of single workers'),
  rows: z.array(row).describe('Oldest first'),
});

export const fleetHistorySchema = z.object({ from: time, to: time, endpoints: z.array(endpoint) });

export type FleetHistory = DeepReadonly<z.infer<typeof fleetHistorySchema>>;
type FleetHistoryRow = z.infer<typeof row>;

/** Served at /api/fleet/schema, and in the tree as deploy/fleet.schema.json. */
export const fleetJsonSchema = publishedSchema(
  'What a Pilotlight daemon recorded of its endpoints',
  fleetHistorySchema,
);

export function fleetRow({
  fromMs,
  lengthMs,
  samples,
  measures: known,
  workers,
}: HistoryRow): FleetHistoryRow {
  const measured = MEASURE_NAMES.map((name) => [name, stretchOf(known[name])]);
  const byStatus = Object.entries(workers).map(([status, all]) => [status, stretchOf(all)] as const);
  return {
    from: fromMs / 1000,
    length_seconds: lengthMs / 1000,
    samples,
    ...(Object.fromEntries(measured) as Pick<FleetHistoryRow, Measure>),
    workers: Object.fromEntries(byStatus.flatMap(([status, value]) => (value ? [[status, value]] : []))),
  };
}

function stretchOf({ count: known, sum, peak }: Aggregate): z.infer<typeof stretch> | null {
  return known === 0 ? null : { mean: sum / known, peak, samples: known };
}
