/** A thread of a search: trials in, outcomes out, over a load whose memory it shares. */
import { parentPort, workerData } from 'node:worker_threads';
import { openLoad } from '../planner/load/open-load.ts';
import { TrialMemory } from '../planner/search/course.ts';
import { runTrial, type Trial, type TrialGround } from '../planner/search/trial.ts';
import type { SharedGround } from './shared-ground.ts';

const shared = workerData as SharedGround;
const ground: TrialGround = {
  settings: shared.settings,
  loads: shared.loads.map((load) => openLoad(load)),
  samples: shared.samples?.map(({ stretches, requests, load }) => ({
    stretches,
    requests,
    load: openLoad(load),
  })),
};

const memory = new TrialMemory();

parentPort?.on('message', (trial: Trial) => parentPort?.postMessage(runTrial(ground, trial, memory)));
