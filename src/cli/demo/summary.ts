/** The end of the demo in a few lines; what counts is what the emulator recorded, not what the daemon did. */
import type { DeploymentView } from '../../emulator/index.ts';
import type { Status } from '../../daemon/status/schema.ts';
import type { FaultReport } from './faults.ts';

export interface DemoResult {
  readonly ranForMs: number;
  readonly status: Status;
  readonly deployments: readonly DeploymentView[];
  /** Lines that the worker groups wrote, as the emulator counted them. */
  readonly writtenLines: number;
  readonly faults: FaultReport;
}

export function summarize({ ranForMs, status, deployments, writtenLines, faults }: DemoResult): {
  readonly lines: readonly string[];
  /** Whether any deployment expired. */
  readonly expired: boolean;
} {
  const sent = sum(status.deployments.map(({ heartbeats }) => heartbeats));
  const accepted = sum(deployments.map(({ beats }) => beats));
  const lapses = sum(deployments.map((deployment) => deployment.lapses));
  const delivered = sum(status.worker_groups.map(({ lines }) => lines));
  const gaps = sum(status.worker_groups.flatMap((group) => Object.values(group.gaps)));
  const closest = deployments.toSorted((a, b) => (a.minMarginRatio ?? 1) - (b.minMarginRatio ?? 1))[0];
  return {
    expired: lapses > 0,
    lines: [
      '',
      `After ${(ranForMs / 1000).toFixed(0)} s:`,
      row('heartbeats sent', `${sent}, ${accepted} accepted by the service`),
      row('closest approach', closest ? describeMargin(closest) : '—'),
      row('lapses', String(lapses)),
      row('faults', `${faults.injected} injected, ${faults.survived} survived`),
      row('log lines', `${delivered} delivered of ${writtenLines} written`),
      row('gaps', String(gaps)),
    ],
  };
}

function describeMargin({ id, minMarginRatio, minMarginMs }: DeploymentView): string {
  if (minMarginRatio === null || minMarginMs === null) return '—';
  return `deployment ${id}: ${(minMarginMs / 1000).toFixed(1)} s left, ${Math.round(minMarginRatio * 100)}% of its TTL`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(18)}${value}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
