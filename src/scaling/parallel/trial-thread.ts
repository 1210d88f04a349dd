/** A thread of a search: trials in, outcomes out, over a load whose memory it shares. */
import { parentPort, workerData } from 'node:worker_threads';
import { RecordedLoad } from '../planner/load/load.ts';
import { TrialMemory } from '../planner/search/course.ts';
import { runTrial, type Trial, type TrialGround } from '../planner/search/trial.ts';
import type { SharedGround } from './shared-ground.ts';

const shared = workerData as SharedGround;
const ground: TrialGround = {
  settings: shared.settings,
  loads: shared.loads.map((load) => new RecordedLoad(load)),
  samples: shared.samples,
};

const memory = new TrialMemory();

parentPort?.on('message', (trial: Trial) => parentPort?.postMessage(runTrial(ground, trial, memory)));
