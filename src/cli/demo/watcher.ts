/** Tells what changed between two looks at the daemon's status. */
import type { DeploymentStatus, EndpointStatus, Status } from '../../daemon/status/schema.ts';
import { countsInWords, spendPerHour, workInWords } from '../fleet/words.ts';
import { counted, money, number, percent } from '../text/numbers.ts';
import type { Screen, Tone } from './screen.ts';

const BAR_WIDTH = 20;

/** `wanted`: what the daemon was told to keep alive. */
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

  function lookAtEndpoint(endpoint: EndpointStatus): void {
    const { endpoint_group: name, last_sample_at: at, load, capacity_hot: ready } = endpoint;
    const subject = `endpoint ${name}`;
    for (const { parameter, actual, wanted: should } of endpoint.drift)
      once(`${name} ${parameter} ${actual}`, () =>
        screen.event(subject, `${parameter} is ${actual ?? 'not set'}, configured ${should}`, 'warn'),
      );
    for (const [trouble, has] of Object.entries(endpoint.troubles))
      if (has) once(`${name} ${trouble} ${has.since}`, () => screen.event(subject, has.says, 'warn'));
    if (at === null || ready === null) return;
    once(`${name} ${at}`, () => {
      const isOver = load !== null && load > ready;
      screen.event(subject, endpointText(endpoint, ready), isOver ? 'warn' : 'plain');
    });
  }

  return {
    look(status: Status): void {
      for (const deployment of status.deployments) lookAtDeployment(deployment, status.now);
      for (const endpoint of status.fleet.endpoints) lookAtEndpoint(endpoint);
      for (const { machine_id, category, starts_at } of status.maintenance_windows) {
        once(`machine ${machine_id} ${starts_at}`, () => {
          const hours = ((starts_at - status.now) / 3600).toFixed(1);
          screen.event(`machine ${machine_id}`, `${category} maintenance in ${hours} h`, 'warn');
        });
      }
      for (const { endpoint_group, findings } of status.endpoint_groups) {
        for (const { severity, parameter, got, message } of findings) {
          if (severity === 'note') continue;
          once(`${endpoint_group} ${parameter}`, () =>
            screen.event(`endpoint ${endpoint_group}`, `${parameter} ${String(got)}: ${message}`, 'warn'),
          );
        }
      }
    },
    /** Sent until the last look, to deployments that the status has no more too. */
    heartbeats: () => deployments.values().reduce((sum, { heartbeats }) => sum + heartbeats, 0),
  };
}

function endpointText(endpoint: EndpointStatus, ready: number): string {
  const { workers, spend_today: today, load, load_in_flight: inFlight, requests_working: at } = endpoint;
  const spend = spendPerHour(endpoint);
  const use = load !== null && ready > 0 ? ` (${percent(load / ready)})` : '';
  const words = [
    load === null ? '' : `load ${number(load)} of ${number(ready)} units/s${use}`,
    inFlight !== null && ready > 0 ? `load in flight ${workInWords(inFlight, ready)}` : '',
    load === null && at !== null ? `${counted(at, 'request')} at work` : '',
    countsInWords(workers ?? {}),
    spend === null ? '' : `${money(spend)} an hour${today ? `, ${money(today.amount)} today` : ''}`,
  ];
  return words.filter((word) => word !== '').join(', ');
}

/** What a deployment became. */
function move(deployment: DeploymentStatus, now: number): { text: string; tone: Tone } {
  const { state, expires_at: expiresAt } = deployment;
  if (state === 'replaced') return { text: 'replaced: its name has another id', tone: 'warn' };
  const left = expiresAt === null ? '' : `, ${(expiresAt - now).toFixed(1)} s left`;
  return { text: state + left, tone: toneOf(state) };
}

function toneOf(state: string): Tone {
  if (state === 'healthy') return 'good';
  return state === 'lapsed' || state === 'gone' || state === 'urgent' ? 'bad' : 'warn';
}

/** Remaining time as a part of the TTL. */
function bar({ ttl_seconds, expires_at }: DeploymentStatus, now: number): string {
  if (ttl_seconds === null || expires_at === null) return 'TTL unknown';
  const left = Math.max(0, expires_at - now);
  const filled = Math.min(BAR_WIDTH, Math.round((left / ttl_seconds) * BAR_WIDTH));
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${left.toFixed(1)} of ${ttl_seconds} s left`;
}
