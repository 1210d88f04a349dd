import { dayOf, sumOf } from '../../../spend/bill.ts';
import {
  DAY_MS,
  isSeen,
  spentIn,
  sumOfFigures,
  sumOfHours,
  type EndpointSpend,
  type Figure,
} from '../../../spend/hours.ts';

/** Why yesterday cost more or less than the same weekday before; null: one of the two was not seen. */
export function difference(spends: readonly EndpointSpend[], now: Date) {
  const [name, nameBefore] = [dayBack(now, 1), dayBack(now, 8)];
  if (!isSeen(spends, name) || !isSeen(spends, nameBefore)) return null;
  const [day, before] = [usesOn(spends, name), usesOn(spends, nameBefore)];
  // Prices make no difference if one is not known.
  const scale = day.price && before.price ? before.price / day.price : 1;
  const load = day.working * scale - before.working;
  const parameters = day.idle * scale - before.idle + day.stopped - before.stopped;
  const price = (day.working + day.idle) * (1 - scale);
  const starts = day.starting - before.starting;
  const { dollars: amount, source } = totalDifference(spends, name, nameBefore);
  const other = amount - load - price - parameters - starts;
  return { day: name, before: nameBefore, amount, source, load, price, parameters, starts, other };
}

function dayBack(now: Date, days: number): string {
  return dayOf(new Date(now.getTime() - days * DAY_MS));
}

/** `price`: of a ready worker, dollars a ms. */
function usesOn(spends: readonly EndpointSpend[], day: string) {
  const all = sumOfHours(spends.flatMap(({ days }) => days.get(day) ?? []));
  return { ...all, price: all.readyMs === 0 ? undefined : (all.working + all.idle) / all.readyMs };
}

/** Compares figures of one kind: billed and estimated ones differ. */
function totalDifference(spends: readonly EndpointSpend[], day: string, before: string): Figure {
  const isBilled = [day, before].every((one) => spends.some(({ billed }) => billed.has(one)));
  const figureOf = (one: string): Figure | undefined => {
    if (!isBilled)
      return sumOfFigures(spends.map(({ days }) => days.get(one)).map((hours) => hours && spentIn(hours)));
    return { dollars: sumOf(spends.flatMap(({ billed }) => billed.get(one) ?? [])).total, source: 'billed' };
  };
  const [one, other] = [figureOf(day), figureOf(before)];
  const { source } = sumOfFigures([one, other]) ?? { source: 'estimated' as const };
  return { dollars: (one?.dollars ?? 0) - (other?.dollars ?? 0), source };
}
