/** What a move of the engine does to a worker and to the instance that it runs on. Pure. */
import { setInstanceStatus, startingSteps, statusAt } from '../../resources/instances.ts';
import type { InstanceRecord } from '../../state/instances.ts';
import type { State } from '../../state/state.ts';
import type { WorkerPhase, WorkerRecord } from '../../state/endpoints/workers.ts';

/** Its instance follows: stopped with it, started with it, gone when it is dead. */
export function movePhase(
  state: State,
  worker: WorkerRecord,
  { phase, measured }: { readonly phase: WorkerPhase; readonly measured: boolean },
  atMs: number,
): void {
  const before = worker.life;
  worker.life = {
    phase,
    sinceMs: atMs,
    readyMs: measured ? atMs : (before?.readyMs ?? null),
    startedMs: phase === 'creating' || phase === 'starting' ? atMs : (before?.startedMs ?? atMs),
  };
  // Called back before it had stopped.
  if (phase === 'ready' && before?.phase === 'draining') worker.life.readyMs = before.readyMs;
  if (phase !== 'ready') worker.steps = [];
  const instance = state.instances.get(worker.id);
  if (instance) moveInstance(state, instance, phase, atMs);
}

function moveInstance(state: State, instance: InstanceRecord, phase: WorkerPhase, atMs: number): void {
  if (phase === 'cold') {
    instance.intendedStatus = 'stopped';
    setInstanceStatus(instance, 'exited', atMs);
  } else if (phase === 'starting') {
    instance.intendedStatus = 'running';
    instance.stepsFromMs = atMs;
    instance.steps = [
      { status: 'loading', durationMs: state.settings.workerColdStartSeconds * 1000 },
      { status: 'running', durationMs: null },
    ];
  } else if (phase === 'creating') {
    instance.stepsFromMs = atMs;
    instance.steps = startingSteps(state.settings);
  } else if (phase === 'error' && statusAt(instance, atMs) === 'running') {
    setInstanceStatus(instance, 'offline', atMs);
  }
}
