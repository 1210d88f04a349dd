/**
 * What others than the engine have done to workers since it looked last: made them, deleted them, or told their
 * instances to stop or start. The model follows.
 */
import { statusAt } from '../../resources/instances.ts';
import type { InstanceRecord } from '../../state/instances.ts';
import type { WorkerPhase, WorkerRecord } from '../../state/endpoints/workers.ts';
import type { Requests } from '../requests/requests.ts';
import type { Site } from '../site.ts';
import { endsAtMs, runsFromMs } from '../workers.ts';
import type { Agenda } from './agenda.ts';
import type { Failures } from './failures.ts';
import type { LivingGroup } from './living-group.ts';
import type { Roster } from './roster.ts';

export interface AdjustmentParts {
  readonly site: Site;
  readonly roster: Roster;
  readonly group: LivingGroup;
  readonly requests: Requests;
  readonly agenda: Agenda;
  readonly failures: Failures;
}

export function adjustWorkers(parts: AdjustmentParts): void {
  forgetWorkers(parts);
  for (const worker of parts.site.workers) adjustWorker(worker, parts);
}

/** Those that somebody has deleted, or given to another endpoint. */
function forgetWorkers({ site, roster, group, requests }: AdjustmentParts): void {
  const { workers, workerGroups } = site.state;
  for (const [place, id] of roster) {
    const worker = workers.get(id);
    if (worker && workerGroups.get(worker.groupId)?.endpointId === site.endpoint.id) continue;
    if (worker) worker.life = null;
    requests.lose(place, group.model.now);
    group.drop(place, 'gone');
  }
}

/** It is taken in, or does what its instance was told to. */
function adjustWorker(worker: WorkerRecord, parts: AdjustmentParts): void {
  const { site, roster, group, requests, failures } = parts;
  const instance = site.state.instances.get(worker.id);
  if (!instance) return;
  const place = roster.placeOf(worker.id);
  if (place === undefined) {
    if (worker.life === null) adopt(worker, instance, parts);
    return;
  }
  const phase = worker.life?.phase;
  const stopped = instance.intendedStatus === 'stopped';
  if (stopped && phase !== 'cold') {
    requests.lose(place, group.model.now);
    group.halt(place);
  } else if (!stopped && phase === 'cold') group.start(place);
  else if (!stopped && isBroken(statusAt(instance, site.msOf(group.model.now)))) failures.die(worker);
}

/** A worker that was there before the engine looked: it is what its instance is. One that never will run stays out. */
function adopt(
  worker: WorkerRecord,
  instance: InstanceRecord,
  { site, group, agenda }: AdjustmentParts,
): void {
  const nowMs = site.msOf(group.model.now);
  const runsMs = runsFromMs(instance);
  const stopped = instance.intendedStatus === 'stopped';
  const status = statusAt(instance, nowMs);
  const running = status === 'running';
  if (!stopped && !running && (runsMs === null || isBroken(status))) return;
  const phase: WorkerPhase = stopped ? 'cold' : running ? 'ready' : 'creating';
  const readyMs = (runsMs ?? nowMs) + site.state.settings.workerModelLoadingSeconds * 1000;
  worker.life = {
    phase,
    sinceMs: phase === 'creating' ? instance.stepsFromMs : nowMs,
    readyMs: phase === 'ready' ? (runsMs ?? nowMs) : null,
    startedMs: instance.stepsFromMs,
  };
  const state = phase === 'ready' ? 'hot' : phase === 'cold' ? 'cold' : 'creating';
  group.adopt(worker, state, site.secondsOf(readyMs));
  const endsMs = stopped ? null : endsAtMs(instance);
  if (endsMs !== null) agenda.add({ at: site.secondsOf(endsMs), kind: 'die', worker: worker.id });
}

function isBroken(status: string): boolean {
  return status === 'exited' || status === 'offline' || status === 'unknown';
}
