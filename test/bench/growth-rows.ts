/** What is measured at growing amounts of work, and the table that shows it. A row of the table in test/bench/README.md each. */

export interface GrowthRow {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  /** The amount of work is a number of these. */
  readonly of: string;
}

/** One measurement at one amount, as growth.ts prints it: a line of JSON. */
export interface GrowthPoint {
  readonly growth: string;
  readonly amount: number;
  readonly value: number;
}

export const GROWTH_ROWS: readonly GrowthRow[] = [
  { id: 'deployments-cpu', what: 'CPU', unit: '% of a core', of: 'deployments' },
  { id: 'deployments-memory', what: 'memory', unit: 'MB', of: 'deployments' },
  { id: 'deployments-scrape', what: 'a scrape', unit: 'ms', of: 'deployments' },
  { id: 'groups-cpu', what: 'CPU', unit: '% of a core', of: 'groups at 100 lines/s' },
  { id: 'groups-memory', what: 'memory', unit: 'MB', of: 'groups at 100 lines/s' },
  { id: 'align', what: 'an alignment', unit: 'ms', of: 'lines' },
];

export function reportGrowth(growth: string, amount: number, value: number): void {
  const point: GrowthPoint = { growth, amount, value: Number(value.toPrecision(3)) };
  process.stdout.write(`${JSON.stringify(point)}\n`);
}

/**
 * k of value ≈ base + c·amount^k over the two largest steps: what the work costs is what it adds to the smallest
 * amount. 1 is linear. Undefined with fewer than three amounts, or where nothing was added.
 */
export function exponent(points: readonly GrowthPoint[]): number | undefined {
  const [base, before, last] = [points[0], points.at(-2), points.at(-1)];
  if (!base || !before || !last || points.length < 3) return undefined;
  const [less, more] = [before.value - base.value, last.value - base.value];
  if (less <= 0 || more <= 0) return undefined;
  return Math.log(more / less) / Math.log(last.amount / before.amount);
}

/** In Markdown. */
export function growthTable(points: readonly GrowthPoint[]): string {
  const amounts = [...new Set(points.map(({ amount }) => amount))].toSorted((one, other) => one - other);
  const header = ['', ...amounts.map((amount) => amount.toLocaleString('en')), 'exponent'];
  const rows = GROWTH_ROWS.map(({ id, what, unit, of }) => {
    const own = points.filter(({ growth }) => growth === id);
    const cells = amounts.map((amount) => {
      const value = own.find((point) => point.amount === amount)?.value;
      return value === undefined ? '' : value.toLocaleString('en', { maximumSignificantDigits: 3 });
    });
    return [`${what} for so many ${of}, ${unit}`].concat(cells, exponent(own)?.toFixed(2) ?? '');
  });
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
