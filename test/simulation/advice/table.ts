/** What came of the advice in many worlds, counted: a line for each kind. */
import type { AdviceTrial } from './trial.ts';
import type { Kind } from './worlds.ts';

/** More than this, and what was advised was confidently wrong. */
export const MOST_WRONG = 0.25;

/** How far what was promised is from what then happens: the costs of both sets, each as a share of what it really was. */
export function wrongBy({ report, today, best }: AdviceTrial): number | undefined {
  if (!report.today || !report.best) return undefined;
  const off = (promised: number, really: number) => Math.abs(promised / really - 1);
  return Math.max(
    off(report.today.costPerHour.mean, today.costPerHour),
    off(report.best.costPerHour.mean, best.costPerHour),
  );
}

/** What is promised to be saved, as a share of today's cost, less what really is. */
export function savingOffBy({ report, today, best }: AdviceTrial): number | undefined {
  if (!report.today || !report.best) return undefined;
  const promised = 1 - report.best.costPerHour.mean / report.today.costPerHour.mean;
  return promised - (1 - best.costPerHour / today.costPerHour);
}

export class AdviceTable {
  readonly #rows = new Map<Kind, { trials: AdviceTrial[]; wrong: number[] }>();

  add(kind: Kind, seed: number, trial: AdviceTrial): void {
    const row = this.#rows.get(kind) ?? { trials: [], wrong: [] };
    this.#rows.set(kind, row);
    row.trials.push(trial);
    if ((wrongBy(trial) ?? 0) > MOST_WRONG) row.wrong.push(seed);
  }

  get lines(): string[] {
    return [
      '| worlds | | declined | advised | cost off by, median | at most | saving off by, median | at most | p99 kept | wrong |',
      '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
      ...[...this.#rows].map(([kind, { trials, wrong }]) => {
        const off = sorted(trials.map((trial) => wrongBy(trial)));
        const saving = sorted(trials.map((trial) => savingOffBy(trial)));
        const advised = trials.filter(({ report }) => report.verdict === 'change');
        const kept = advised.filter(({ report, best }) => best.p99Seconds <= report.limitSeconds * 1.25);
        const cells = [
          kind,
          trials.length,
          trials.filter(({ report }) => report.verdict === 'declined').length,
          off.length,
          percent(off[Math.floor(off.length / 2)]),
          percent(off.at(-1)),
          percent(saving[Math.floor(saving.length / 2)]),
          percent(saving.at(-1)),
          `${kept.length} of ${advised.length}`,
          wrong.length === 0 ? '0' : `${wrong.length} (seeds ${wrong.slice(0, 5).join(', ')})`,
        ];
        return `| ${cells.join(' | ')} |`;
      }),
    ];
  }
}

function sorted(values: readonly (number | undefined)[]): number[] {
  return values.flatMap((value) => (value === undefined ? [] : Math.abs(value))).sort((a, b) => a - b);
}

function percent(share: number | undefined): string {
  return share === undefined ? '' : `${(share * 100).toFixed(1)}%`;
}
