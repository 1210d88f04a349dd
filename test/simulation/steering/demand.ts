/** How much is asked of an endpoint, by the minute: real demand of others, scaled, and made-up ones; and its requests. */
import { readFileSync } from 'node:fs';
import type { Arrival } from '../../../src/scaling/planner/load/load.ts';
import { exponential, type Random } from '../../../src/scaling/planner/load/random.ts';
import { hasRealData, realData } from '../../support/real-data.ts';

export const DAY_MINUTES = 1440;
export const SOURCES = ['diurnal', 'bursts', 'steps', 'elb', 'taxi'] as const;
export type Source = (typeof SOURCES)[number];

const FILES = {
  elb: { name: 'elb-requests-5min.csv', minutes: 5 },
  taxi: { name: 'taxi-rides-30min.csv', minutes: 30 },
} as const;

const read = new Map<string, readonly number[]>();

function recorded(source: keyof typeof FILES): readonly number[] {
  const known = read.get(source);
  if (known) return known;
  const lines = readFileSync(`${realData}loads/${FILES[source].name}`, 'utf8').trim().split('\n');
  const values = lines.slice(1).map((line) => Number(line.split(',')[1]));
  read.set(source, values);
  return values;
}

/** Real demand is not in the repository. */
export function hasDemand(source: Source): boolean {
  return hasRealData || !(source in FILES);
}

/** Units/s in each minute, of the mean that is asked for. */
export function demandOf(source: Source, mean: number, minutes: number, random: Random): number[] {
  const shape = SHAPES[source](minutes, random);
  const sum = shape.reduce((total, value) => total + value, 0);
  return shape.map((value) => (value / (sum / minutes)) * mean);
}

const SHAPES: Readonly<Record<Source, (minutes: number, random: Random) => number[]>> = {
  diurnal(minutes, random) {
    const [swing, phase] = [0.3 + 0.65 * random(), random() * 2 * Math.PI];
    return eachMinute(
      minutes,
      (minute) => 1 - swing * Math.cos((2 * Math.PI * minute) / DAY_MINUTES + phase),
    );
  },
  /** On a quiet ground, bursts at the same times of each day. */
  bursts(minutes, random) {
    const times = Array.from({ length: 2 + Math.floor(random() * 4) }, () =>
      Math.floor(random() * DAY_MINUTES),
    );
    const [height, length] = [2 + 4 * random(), 20 + 60 * random()];
    const isIn = (minute: number) => times.some((at) => (minute - at + DAY_MINUTES) % DAY_MINUTES < length);
    return eachMinute(minutes, (minute) => (isIn(minute % DAY_MINUTES) ? height : 0.6));
  },
  /** Working hours, and a night without anything. */
  steps(minutes, random) {
    const [from, hours] = [6 + 4 * random(), 8 + 6 * random()];
    return eachMinute(minutes, (minute) => {
      const hour = (minute % DAY_MINUTES) / 60;
      return hour >= from && hour < from + hours ? 1 : 0.05;
    });
  },
  elb: (minutes, random) => piece('elb', minutes, random),
  taxi: (minutes, random) => piece('taxi', minutes, random),
};

/** Somewhere in what was recorded, as long as is asked. */
function piece(source: keyof typeof FILES, minutes: number, random: Random): number[] {
  const values = recorded(source);
  const each = FILES[source].minutes;
  const length = Math.ceil(minutes / each);
  const from = Math.floor(random() * (values.length - length));
  return eachMinute(minutes, (minute) => values[from + Math.floor(minute / each)] ?? 0);
}

function eachMinute(minutes: number, value: (minute: number) => number): number[] {
  return Array.from({ length: minutes }, (_, minute) => value(minute));
}

/** Requests of one minute, at random; sizes exponential. */
export function requestsOf(minute: number, rate: number, size: number, random: Random): Arrival[] {
  const arrivals: Arrival[] = [];
  if (rate <= 0) return arrivals;
  const end = (minute + 1) * 60;
  for (
    let at = minute * 60 + exponential(random, size / rate);
    at < end;
    at += exponential(random, size / rate)
  ) {
    arrivals.push({ atSeconds: at, work: exponential(random, size) });
  }
  return arrivals;
}

/**
 * Whether each quarter of an hour from `fromMinute` on stays within what there was before it, a tenth more: the rest is a
 * crowd that nobody has seen.
 */
export function staysWithin(demand: readonly number[], fromMinute: number): boolean {
  const QUARTER = 15;
  let most = 0;
  for (let minute = 0; minute + QUARTER <= demand.length; minute += QUARTER) {
    const mean = demand.slice(minute, minute + QUARTER).reduce((sum, rate) => sum + rate, 0) / QUARTER;
    if (minute >= fromMinute && mean > most * 1.1) return false;
    most = Math.max(most, mean);
  }
  return true;
}
