/** What the demo prints: events, what changed between two polls of the daemon, and a summary. */
import { styleText } from 'node:util';
import type { LogRecord } from '../../logs/record.ts';
import { printLine, type Console } from '../console.ts';
import { clip, displayed } from '../text.ts';
import { describeGap } from '../logs/print.ts';
import type { DeploymentStatus, EndpointStatus, Status } from '../../daemon/status/schema.ts';
import { endpointInWords } from '../fleet/words.ts';
import { sum } from '../../spend/bill.ts';
import type { DeploymentView } from '../../emulator/index.ts';

type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'quiet';

const COLOURS = { good: 'green', warn: 'yellow', bad: 'red', quiet: 'dim' } as const;

export interface Screen {
  heading(line: string): void;
  event(subject: string, text: string, tone?: Tone): void;
  record(record: LogRecord): void;
}

const SUBJECT_WIDTH = 16;
const WIDTH_WITHOUT_TERMINAL = 110;

export function createScreen(console: Console): Screen {
  const startedAt = performance.now();

  function event(subject: string, text: string, tone: Tone = 'plain'): void {
    const elapsed = Math.floor((performance.now() - startedAt) / 1000);
    const clock = `${String(Math.floor(elapsed / 60)).padStart(2, '0')}:${String(elapsed % 60).padStart(2, '0')}`;
    const width = console.columns ?? WIDTH_WITHOUT_TERMINAL;
    const line = clip(`${clock}  ${subject.padEnd(SUBJECT_WIDTH)}${text}`, width);
    const isPlain = !console.hasColours || tone === 'plain';
    printLine(console, isPlain ? line : styleText(COLOURS[tone], line, { validateStream: false }));
  }

  return {
    heading: (line) => printLine(console, line.trimEnd()),
    event,
    record(record) {
      const { workergroup_id, endpoint } = record;
      const subject = endpoint === undefined ? `worker group ${workergroup_id}` : `endpoint ${endpoint}`;
      if ('gap' in record) event(subject, describeGap(record.gap), 'bad');
      else event(subject, displayed(record.line), 'quiet');
    },
  };
}

const BAR_WIDTH = 20;

export function createWatcher(
  screen: Screen,
  wanted: { readonly byId: readonly number[]; readonly name: string },
) {
  const deployments = new Map<number, DeploymentStatus>();
  const told = new Set<string>();

  function once(key: string, tell: () => void): void {
    if (told.has(key)) return;
    told.add(key);
    tell();
  }

  function lookAtDeployment(deployment: DeploymentStatus, now: number): void {
    const subject = `deployment ${deployment.deployment_id}`;
    const before = deployments.get(deployment.deployment_id);
    deployments.set(deployment.deployment_id, deployment);
    const isNamed = !wanted.byId.includes(deployment.deployment_id);
    if (!before && isNamed) screen.event(subject, `found by its name, ${wanted.name}`, 'good');
    if (before && before.state !== deployment.state) {
      const { text, tone } = move(deployment, now);
      screen.event(subject, `${before.state} → ${text}`, tone);
    } else if (deployment.last_success_at !== (before?.last_success_at ?? null)) {
      screen.event(subject, `heartbeat accepted  ${bar(deployment, now)}`);
    }
  }

  function lookAtEndpoint(endpoint: EndpointStatus, now: number): void {
    const { endpoint_group: name, last_sample_at: at, load, capacity_hot: ready } = endpoint;
    const subject = `endpoint ${name}`;
    for (const [trouble, has] of Object.entries(endpoint.troubles))
      if (has) once(`${name} ${trouble} ${has.since}`, () => screen.event(subject, has.says, 'warn'));
    if (at === null || ready === null) return;
    once(`${name} ${at}`, () => {
      const isOver = load !== null && load > ready;
      screen.event(subject, endpointInWords(endpoint, now), isOver ? 'warn' : 'plain');
    });
  }

  return {
    look(status: Status): void {
      for (const deployment of status.deployments) lookAtDeployment(deployment, status.now);
      for (const endpoint of status.fleet.endpoints) lookAtEndpoint(endpoint, status.now);
      for (const { machine_id, category, starts_at } of status.maintenance_windows) {
        once(`machine ${machine_id} ${starts_at}`, () => {
          const hours = ((starts_at - status.now) / 3600).toFixed(1);
          screen.event(`machine ${machine_id}`, `${category} maintenance in ${hours} h`, 'warn');
        });
      }
    },
    /** Also to deployments that the status no longer has. */
    heartbeats: () => sum(Array.from(deployments.values(), ({ heartbeats }) => heartbeats)),
  };
}

const TONES: Readonly<Record<string, Tone>> = { healthy: 'good', lapsed: 'bad', gone: 'bad', urgent: 'bad' };

function move(deployment: DeploymentStatus, now: number): { text: string; tone: Tone } {
  const { state, expires_at: expiresAt } = deployment;
  if (state === 'replaced') return { text: 'replaced: its name has another id', tone: 'warn' };
  const left = expiresAt === null ? '' : `, ${(expiresAt - now).toFixed(1)} s left`;
  return { text: state + left, tone: TONES[state] ?? 'warn' };
}

function bar({ ttl_seconds, expires_at }: DeploymentStatus, now: number): string {
  if (ttl_seconds === null || expires_at === null) return 'TTL unknown';
  const left = Math.max(0, expires_at - now);
  const filled = Math.min(BAR_WIDTH, Math.round((left / ttl_seconds) * BAR_WIDTH));
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${left.toFixed(1)} of ${ttl_seconds} s left`;
}

export interface DemoResult {
  readonly ranForMs: number;
  readonly status: Status;
  readonly heartbeats: number;
  readonly deployments: readonly DeploymentView[];
  readonly redeployed: number;
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

/** The last one is followed once it has had a heartbeat. A lapse would show that one before had none. */
function describeRedeployments(count: number, deployments: readonly DeploymentView[]): string {
  const waits = count > 0 && deployments.some(({ lastHeartbeatMs }) => lastHeartbeatMs === null);
  return `${count}, ${waits ? count - 1 : count} followed to the new id`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(18)}${value}`;
}
