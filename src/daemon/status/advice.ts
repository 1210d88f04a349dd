/** Advice as the status has it: in seconds, by published names. */
import * as z from 'zod';
import { VERDICTS, type Advice } from '../../scaling/advice/advice.ts';
import { time } from './time.ts';

export const adviceSchema = z.object({
  at: time.describe('When it was computed'),
  from: time.describe('The stretch of history that it goes by'),
  to: time,
  limit_seconds: z.number().describe('The queue time that 99 of 100 requests are to keep'),
  verdict: z.enum(VERDICTS),
  sentence: z.string().describe('The whole of it in words; every queue time in it is modelled'),
  gain_ratio: z
    .number()
    .nullable()
    .describe(
      "What the advised set saves of today's cost; below 0 where it is dearer; null where it was declined",
    ),
  backtest_error_ratio: z
    .number()
    .nullable()
    .describe(
      'How far the model was off with the parameters that were set; null where there was too little to run',
    ),
  parameters: z
    .record(z.string(), z.number())
    .describe("The advised set; today's where it is kept; else empty"),
});

export type AdviceStatus = z.infer<typeof adviceSchema>;

export function adviceStatus({ verdict, sentence, backtest, today, best, ...advice }: Advice): AdviceStatus {
  return {
    at: advice.atMs / 1000,
    from: advice.fromMs / 1000,
    to: advice.toMs / 1000,
    limit_seconds: advice.limitSeconds,
    verdict,
    sentence,
    gain_ratio: today && best ? gainOf(today.costPerHour.mean, best.costPerHour.mean) : null,
    backtest_error_ratio: backtest?.errorRatio ?? null,
    parameters: { ...best?.parameters },
  };
}

function gainOf(today: number, best: number): number {
  return today === 0 ? 0 : 1 - best / today;
}
