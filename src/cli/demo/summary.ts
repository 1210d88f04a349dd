/** The end of the demo in a few lines; what counts is what the emulator recorded, not what the daemon did. */
import type { DeploymentView } from '../../emulator/index.ts';
import type { Status } from '../../daemon/status/schema.ts';

export interface DemoResult {
  readonly ranForMs: number;
  readonly status: Status;
  /** That the daemon sent, to deployments that are no more too. */
  readonly heartbeats: number;
  /** All that there were, those that were made anew under another id included. */
  readonly deployments: readonly DeploymentView[];
  /** How often one was made anew. */
  readonly redeployed: number;
  /** Lines that the worker groups wrote, as the emulator counted them. */
  readonly writtenLines: number;
  readonly faults: { readonly injected: number; readonly survived: number };
}

export function summarize({ status, deployments, redeployed, faults, ...result }: DemoResult) {
  const accepted = sum(deployments.map(({ beats }) => beats));
  const lapses = sum(deployments.map((deployment) => deployment.lapses));
  const delivered = sum(status.worker_groups.map(({ lines }) => lines));
  const gaps = sum(status.worker_groups.flatMap((group) => Object.values(group.gaps)));
  const closest = deployments.toSorted((a, b) => (a.minMarginRatio ?? 1) - (b.minMarginRatio ?? 1))[0];
  return {
    /** Whether any deployment expired. */
    expired: lapses > 0,
    lines: [
      '',
      `After ${(result.ranForMs / 1000).toFixed(0)} s:`,
      row('heartbeats sent', `${result.heartbeats}, ${accepted} accepted by the service`),
      row('closest approach', closest ? describeMargin(closest) : '—'),
      row('lapses', String(lapses)),
      row('redeployments', describeRedeployments(redeployed, deployments)),
      row('faults', `${faults.injected} injected, ${faults.survived} survived`),
      row('log lines', `${delivered} delivered of ${result.writtenLines} written`),
      row('gaps', String(gaps)),
    ],
  };
}

function describeMargin({ id, minMarginRatio, minMarginMs }: DeploymentView): string {
  if (minMarginRatio === null || minMarginMs === null) return '—';
  return `deployment ${id}: ${(minMarginMs / 1000).toFixed(1)} s left, ${Math.round(minMarginRatio * 100)}% of its TTL`;
}

/** The last one is followed once it has had a heartbeat; each before it had, or there would be a lapse. */
function describeRedeployments(count: number, deployments: readonly DeploymentView[]): string {
  const waits = count > 0 && deployments.some(({ lastHeartbeatMs }) => lastHeartbeatMs === null);
  return `${count}, ${waits ? count - 1 : count} followed to the new id`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(18)}${value}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
