/** The settings of the emulator as those of the planner: who plans with them gets what the emulator does. Pure. */
import { planSettings, type PlanSettings } from '../../scaling/planner/settings.ts';
import { mixSeeds } from '../random.ts';
import type { Settings } from '../state/settings.ts';

export function planSettingsOf(settings: Settings, endpointId: number): PlanSettings {
  const {
    workerPerformanceLeast: least,
    instanceCreatedSeconds,
    instanceLoadingSeconds,
    workerModelLoadingSeconds,
  } = settings;
  return planSettings({
    performance: { least, most: Math.max(least, settings.workerPerformanceMost) },
    slots: settings.workerSlots,
    startSeconds: instanceCreatedSeconds + instanceLoadingSeconds + workerModelLoadingSeconds,
    coldStartSeconds: settings.workerColdStartSeconds,
    priceHot: (settings.workerPriceLeast + settings.workerPriceMost) / 2,
    controlSeconds: settings.engineDecisionSeconds,
    loadWindowSeconds: settings.engineLoadWindowSeconds,
    scaleDownSeconds: settings.engineScaleDownSeconds,
    destroySeconds: settings.engineDestroySeconds,
    giveUpSeconds: settings.requestGiveUpSeconds,
    // Endpoints differ in what chance gives them.
    seed: mixSeeds(settings.randomSeed, endpointId),
  });
}
