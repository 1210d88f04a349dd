/** The end of the day in a few lines: what was asked, how long it waited, what it cost. Pure. */
import type { EndpointActivity } from '../../../emulator/index.ts';
import { money, number, seconds } from '../../text/numbers.ts';
import type { DayFigures } from './figures.ts';
import { DAY_SECONDS } from './load.ts';

export function summarizeDay(
  { seconds: passed, cost, workerHours, mostReady }: DayFigures,
  { taken, waiting, abandoned, queueTime, starts }: EndpointActivity,
): string[] {
  const whole = passed >= DAY_SECONDS ? 'After a day' : `After ${seconds(passed)} of the day`;
  const { ready, starting, cold } = workerHours;
  const requests = taken + waiting + abandoned;
  return [
    '',
    `${whole}:`,
    row('requests', `${number(requests)}, ${number(taken)} taken by a worker`),
    row('waited', `${seconds(queueTime.p50)} in the middle, ${seconds(queueTime.p99)} at most for 99%`),
    row(
      'workers',
      `at most ${mostReady} ready; ${starts.fromNothing} made, ${starts.fromCold} started from cold`,
    ),
    row('worker hours', `${number(ready)} ready, ${number(starting)} starting, ${number(cold)} cold`),
    row('cost', `${money(cost)}, ${requests > 0 ? money((cost * 1000) / requests) : '—'} for 1,000 requests`),
  ];
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(18)}${value}`;
}
