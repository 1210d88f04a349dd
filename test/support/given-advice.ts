/** An advice as the daemon keeps it, but for what is named. */
import type { Advice, SetPrediction } from '../../src/scaling/advice/advice.ts';

export function prediction(costPerHour: number, p99Seconds: number, target_util: number): SetPrediction {
  const exact = (mean: number) => ({ mean, low: mean, high: mean });
  return {
    parameters: { target_util, cold_mult: 2.5, cold_workers: 5, min_load: 0, min_cold_load: 0 },
    costPerHour: exact(costPerHour),
    p99Seconds: exact(p99Seconds),
    peakHotWorkers: 6,
    meanHotWorkers: 4,
  };
}

export function givenAdvice(over: Partial<Advice> = {}): Advice {
  return {
    endpoint: 'chat',
    atMs: Date.UTC(2026, 10, 21, 4, 17),
    fromMs: Date.UTC(2026, 10, 14),
    toMs: Date.UTC(2026, 10, 21),
    limitSeconds: 5,
    verdict: 'change',
    sentence:
      'target_util 0.6 → 0.8: 25% cheaper (24.00 → 18.00 a day, 95% between 22% and 28%), p99 wait 2 s → 4.1 s as ' +
      'modelled (waits are not recorded), limit 5 s; the backtest was off by 4%',
    backtest: { errorRatio: 0.04, held: true },
    today: prediction(1, 2, 0.6),
    best: prediction(0.75, 4.1, 0.8),
    ...over,
  };
}
