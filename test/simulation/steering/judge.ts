/** What is asked of steering in every world, told from what was sent and seen alone: nothing of it is steering's own word. */
import { ADVISED_PARAMETERS, type AdvisedParameter } from '../../../src/scaling/advice/advice.ts';
import type { Minute } from '../../../src/scaling/autotune/minutes.ts';
import type { Numbers } from '../../../src/scaling/autotune/state.ts';
import { DAY_MINUTES, staysWithin } from './demand.ts';
import type { Sent, Steered } from './steered.ts';
import { HISTORY_DAYS } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A look each minute, and one for the answer to be read back. */
const GRACE_MINUTES = 3;

/** The rules that hold in every world, whatever the service does: what was broken, in words. */
export function violations(steered: Steered): string[] {
  const changes = steered.sent.filter(({ isReturn }) => !isReturn);
  return [
    ...changes.flatMap((sent) => [
      ...outOfBounds(sent, steered),
      ...tooFar(sent, steered),
      ...unfounded(sent),
    ]),
    ...changes.flatMap((sent, index) => tooSoon(sent, changes[index - 1], steered)),
    ...changes.flatMap((sent) => notTakenBack(sent, steered)),
    ...changes.flatMap((sent) => keptForNothing(sent, steered)),
  ];
}

function outOfBounds({ values, atMs }: Sent, { world }: Steered): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const bound = world.bounds[name as AdvisedParameter];
    const isIn = bound !== undefined && value >= bound[0] && value <= bound[1];
    return isIn ? [] : [`${when(atMs)}: ${name} ${value} is out of its bounds`];
  });
}

function tooFar({ values, before, atMs }: Sent, { world }: Steered): string[] {
  const performance = world.settings.performance.least * world.sayings.capacity;
  return ADVISED_PARAMETERS.flatMap((name) => {
    const [now, was] = [values[name], before[name] ?? 0];
    if (now === undefined) return [];
    const worker = name === 'cold_workers' ? 1 : name.endsWith('load') ? performance : 0;
    const isStep = now <= was * 1.5 + 1e-6 && now >= was / 1.5 - 1e-6;
    return isStep || Math.abs(now - was) <= worker + 1e-6
      ? []
      : [`${when(atMs)}: ${name} ${was} → ${now} is too far`];
  });
}

function unfounded({ change, atMs }: Sent): string[] {
  const { costBefore, costAfter, backtestError } = change.expected;
  return [
    ...(costAfter.mean < costBefore.mean ? [] : [`${when(atMs)}: to a set that was predicted dearer`]),
    ...(backtestError <= 0.15 ? [] : [`${when(atMs)}: upon advice whose backtest did not hold`]),
  ];
}

function tooSoon({ atMs }: Sent, last: Sent | undefined, steered: Steered): string[] {
  const { startsMs, handsMs, sent } = steered;
  const found: string[] = [];
  const since = (moments: readonly number[]) =>
    atMs - Math.max(-Infinity, ...moments.filter((moment) => moment <= atMs));
  if (last && atMs - last.atMs < 6 * HOUR_MS)
    found.push(`${when(atMs)}: within six hours of the last change`);
  if (since(startsMs) < HOUR_MS) found.push(`${when(atMs)}: within an hour of a start`);
  if (since(handsMs) < 24 * HOUR_MS) found.push(`${when(atMs)}: within a day of a person's hand`);
  const returns = sent.filter(({ isReturn }) => isReturn).map(({ atMs: returnedMs }) => returnedMs);
  if (since(returns) < 24 * HOUR_MS) found.push(`${when(atMs)}: within a day of a rollback`);
  return found;
}

/** Load above capacity for longer than before, or a cost beyond what such a load took: then the old values are back in an hour. */
function notTakenBack({ atMs, before, values }: Sent, { minutes, parameters, handsMs }: Steered): string[] {
  const arrived = parameters[Math.floor(atMs / MINUTE_MS)];
  if (!arrived || !has(arrived, values)) return [];
  const excess = (fromMs: number): number =>
    minutes.filter((minute) => minute.fromMs >= fromMs && minute.fromMs < fromMs + HOUR_MS).filter(isExcess)
      .length;
  const usual = Math.max(excess(atMs - HOUR_MS), excess(atMs - 24 * HOUR_MS));
  if (excess(atMs) <= usual + 2 && !isTooDear(minutes, atMs)) return [];
  // What is not seen cannot be known, and what a person sets stays.
  const seen = minutes.filter((minute) => minute.fromMs >= atMs && minute.fromMs < atMs + HOUR_MS).length;
  const isHand = handsMs.some((hand) => hand >= atMs && hand < atMs + HOUR_MS);
  const after = parameters[Math.floor((atMs + HOUR_MS) / MINUTE_MS) + GRACE_MINUTES];
  if (seen < 60 || isHand || !after) return [];
  const old = Object.fromEntries(Object.keys(values).map((name) => [name, before[name] ?? Number.NaN]));
  return has(after, old) ? [] : [`${when(atMs)}: it did harm, and is still there an hour later`];
}

/** Six hours that cost clearly more than such loads took before: then the old values are back. */
function keptForNothing({ atMs, before, values }: Sent, { minutes, parameters, handsMs }: Steered): string[] {
  const endMs = atMs + 6 * HOUR_MS;
  const stands = parameters.slice(
    Math.floor(atMs / MINUTE_MS) + GRACE_MINUTES,
    Math.floor(endMs / MINUTE_MS),
  );
  const seen = minutes.filter((minute) => minute.fromMs >= atMs && minute.fromMs < endMs).length;
  const isHand = handsMs.some((hand) => hand >= atMs && hand < endMs);
  if (isHand || seen < 360 || !stands.every((set) => has(set, values))) return [];
  const day = hoursBefore(minutes, atMs);
  const hours = [0, 1, 2, 3, 4, 5]
    .map((place) => hourAt(minutes, atMs + place * HOUR_MS))
    .map(({ load, cost }) => ({ load, cost, expected: usualCost(day, load) }))
    // Quieter than all before, and cheaper: that any set would be.
    .filter(({ load, cost, expected }) => load >= (day[0]?.load ?? 0) || cost > expected);
  if (hours.length < 5) return [];
  const sum = (of: (hour: (typeof hours)[number]) => number) =>
    hours.reduce((all, hour) => all + of(hour), 0);
  const after = parameters[Math.floor(endMs / MINUTE_MS) + GRACE_MINUTES];
  // A fiftieth is chance.
  if (sum(({ cost }) => cost) <= 1.02 * sum(({ expected }) => expected) || !after) return [];
  const old = Object.fromEntries(Object.keys(values).map((name) => [name, before[name] ?? Number.NaN]));
  return has(after, old) ? [] : [`${when(atMs)}: it saved nothing in six hours, and is still there`];
}

function hourAt(minutes: readonly Minute[], fromMs: number) {
  const seen = minutes.filter((minute) => minute.fromMs >= fromMs && minute.fromMs < fromMs + HOUR_MS);
  const mean = (of: (minute: Minute) => number | null): number =>
    seen.reduce((sum, minute) => sum + (of(minute) ?? 0), 0) / seen.length;
  return { seen: seen.length, load: mean(({ load }) => load), cost: mean(({ cost }) => cost) };
}

/** Hours of the day before, by load. */
function hoursBefore(minutes: readonly Minute[], atMs: number) {
  return Array.from({ length: 24 }, (_, place) => hourAt(minutes, atMs - (place + 1) * HOUR_MS))
    .filter(({ seen }) => seen >= 20)
    .toSorted((a, b) => a.load - b.load);
}

/** On the line between the two loads beside it, in proportion above all of them; NaN where there was none. */
function usualCost(before: ReturnType<typeof hoursBefore>, load: number): number {
  const [quietest, busiest] = [before[0], before.at(-1)];
  if (!quietest || !busiest) return Number.NaN;
  if (load <= quietest.load) return quietest.cost;
  if (load > busiest.load) return busiest.cost * (busiest.load > 0 ? load / busiest.load : 1);
  const next = before.findIndex((hour) => hour.load >= load);
  const [low, high] = [before[next - 1] ?? quietest, before[next] ?? busiest];
  return low.cost + ((load - low.load) / (high.load - low.load)) * (high.cost - low.cost);
}

/** A quarter and a worker more than such a load took before. */
function isTooDear(minutes: readonly Minute[], atMs: number): boolean {
  const since = hourAt(minutes, atMs);
  const expected = usualCost(hoursBefore(minutes, atMs), since.load);
  if (Number.isNaN(expected)) return false;
  const ready = minutes.filter(
    (minute) => minute.fromMs >= atMs - 24 * HOUR_MS && minute.fromMs < atMs && minute.ready >= 1,
  );
  const price = Math.min(...ready.map(({ cost, ready: workers }) => (cost ?? Infinity) / workers));
  return since.cost > expected * 1.25 + price;
}

function isExcess({ load, capacity }: Minute): boolean {
  return (load ?? 0) > (capacity ?? Infinity);
}

function has(numbers: Numbers, some: Readonly<Record<string, number>>): boolean {
  return Object.entries(some).every(
    ([name, value]) => Math.abs((numbers[name] ?? Number.NaN) - value) < 1e-9,
  );
}

function when(atMs: number): string {
  return `day ${(atMs / 24 / HOUR_MS).toFixed(2)}`;
}

/** Over the week beside the twin: what it cost too much, or how much longer requests waited than they may. */
export function worse({ world, week }: Steered): string[] {
  const { steered, twin } = week;
  const mostWait = Math.max(1.5 * world.limitSeconds, 1.1 * twin.p99);
  return [
    ...(steered.cost > 1.05 * twin.cost
      ? [`cost ${(steered.cost / twin.cost).toFixed(3)} of the twin's`]
      : []),
    ...(steered.p99 > mostWait
      ? [
          `p99 ${steered.p99.toFixed(0)} s, limit ${world.limitSeconds} s, the twin's ${twin.p99.toFixed(0)} s`,
        ]
      : []),
  ];
}

/** Whether the load of the week stays within what the history held when it came. */
export function isForeseen({ world }: Steered): boolean {
  return staysWithin(world.demand, HISTORY_DAYS * DAY_MINUTES);
}

export function inWords({ world, week, late, changes }: Steered): string {
  const share = ({ steered, twin }: typeof week): string => (steered.cost / twin.cost).toFixed(3);
  const outcomes = changes.map(({ outcome, phase }) => outcome ?? phase).join(' ');
  return [
    `seed ${world.seed}: ${world.kind}, ${world.source}`,
    `cost ${share(week)}, from day four on ${share(late)}`,
    `p99 ${week.steered.p99.toFixed(0)} s, twin ${week.twin.p99.toFixed(0)} s, limit ${world.limitSeconds} s`,
    outcomes === '' ? 'nothing was changed' : outcomes,
  ].join('; ');
}
