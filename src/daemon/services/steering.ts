/** Steering in the daemon: what it asks of the service, and what its settings are. */
import { ApiError, RequestError } from '../../client/errors.ts';
import type { Settings } from '../../config/options/options.ts';
import type { FleetNotice } from '../../fleet/notices.ts';
import type { FleetService } from '../../fleet/service.ts';
import type {
  AskAdvice,
  SteeredService,
  SteeredWatch,
  SteeringNotice,
  SteeringSettings,
} from '../../fleet/steering/port.ts';
import type { Steering } from '../../fleet/steering/steering.ts';
import type { FleetEvent } from '../../fleet/view.ts';
import type { Answer } from '../../scaling/autotune/decide.ts';
import type { Clock } from '../../time/clock.ts';
import type { DaemonClient } from './client.ts';

export type AutotuneSettings = Pick<Settings, 'autotune' | 'autotuneBounds'>;

interface UpdatingClient {
  readonly endpointGroups: Pick<DaemonClient['endpointGroups'], 'update'>;
}

export interface StartSteering {
  readonly settings: AutotuneSettings;
  readonly client: UpdatingClient;
  readonly service: Pick<FleetService, 'endpoints'>;
  readonly watch: SteeredWatch;
  readonly advise: AskAdvice | undefined;
  readonly mayAct: () => boolean;
  readonly notice: (notice: FleetNotice) => void;
  readonly onEvent: (event: FleetEvent) => void;
  readonly clock: Clock;
}

/** Loaded only where parameters are to be changed. */
export async function startSteering(options: StartSteering): Promise<Steering> {
  const { settings, client, service, watch, advise, mayAct, notice, onEvent, clock } = options;
  const { Steering: Started } = await import('../../fleet/steering/steering.ts');
  return new Started({
    settings: steeringSettings(settings),
    service: steeredService(client, service),
    watch,
    advise,
    mayAct,
    notice(said: SteeringNotice) {
      notice(said);
      if (said.kind === 'steering ended') onEvent(said);
    },
    clock,
  });
}

export function steeringSettings({ autotune, autotuneBounds }: AutotuneSettings): SteeringSettings {
  return { apply: autotune === 'apply', bounds: autotuneBounds };
}

/** One attempt each: what is not answered is read back. */
function steeredService(client: UpdatingClient, service: Pick<FleetService, 'endpoints'>): SteeredService {
  return {
    async endpoints(signal) {
      return (await service.endpoints(signal)).endpoints;
    },
    async update(id, parameters, signal) {
      await client.endpointGroups.update({ id, ...parameters }, { signal, retry: false });
    },
    answerOf,
  };
}

/** A refusal is one only where the service itself says no: what fails inside of it may have been done. */
export function answerOf(error: unknown): Answer {
  const words = error instanceof Error ? error.message : String(error);
  const isRefused = error instanceof RequestError || (error instanceof ApiError && error.status < 500);
  return { kind: isRefused ? 'refused' : 'unknown', words };
}
