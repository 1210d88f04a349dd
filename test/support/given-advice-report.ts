/** All that was computed for an advice, with round figures, but for what is named. */
import type { AdviceReport } from '../../src/scaling/advice/report.ts';
import { givenAdvice, prediction } from './given-advice.ts';

const HOUR_MS = 3_600_000;
const workers = (hot: number) => ({ hot, cold: 1, starting: 0.25, costPerHour: hot * 2 });
const at = [0];
const series = (cost: number) => ({
  intervalSeconds: 60,
  atSeconds: at,
  load: [40],
  capacity: [50],
  hot: [5],
  cold: at,
  starting: at,
  queueP50: [null],
  queueP95: [null],
  queueP99: [1],
  cost: [cost],
});

export function givenAdviceReport(over: Partial<AdviceReport> = {}): AdviceReport {
  const { fromMs, toMs, ...advice } = givenAdvice();
  const [today, best] = [prediction(1, 2, 0.6), prediction(0.75, 4.1, 0.8)];
  const hours = [0, 2].map((hour) => ({
    fromMs: fromMs + hour * HOUR_MS,
    seconds: 3600,
    load: 45,
    recorded: workers(5),
    predicted: workers(5.5),
  }));
  const errors = { hot: 0.1, workers: -0.04, cost: 0 };
  return {
    ...advice,
    fromMs,
    toMs,
    today: { ...today, costPerHour: { mean: 1, low: -1, high: 1.5 } },
    best,
    backtest: { errorRatio: 0.1, held: true, halfErrorRatio: 0.1, errors, hours },
    load: {
      seenSeconds: 6 * 3600,
      holes: [
        { fromMs, toMs: fromMs + HOUR_MS },
        { fromMs: toMs - HOUR_MS, toMs },
      ],
      meanRate: 45,
      peakRate: 90,
      requests: 1_000,
    },
    assumptions: [{ name: 'start time', value: '300 s', from: 'assumed' }],
    sensitivity: [
      {
        assumption: 'start time',
        factor: 2,
        gain: 0.2,
        todayPerHour: 1.5,
        todayP99Seconds: 3,
        bestP99Seconds: 5,
      },
      {
        assumption: 'lists differ',
        factor: 1,
        gain: 0.1,
        todayPerHour: 1,
        todayP99Seconds: 2,
        bestP99Seconds: 4,
      },
    ],
    hangsOn: 'start time',
    gain: { mean: 0.25, low: 0.2, high: 0.3 },
    nothingKeeps: false,
    tried: 12,
    series: { today: series(1), best: series(0.75) },
    ...over,
  };
}
