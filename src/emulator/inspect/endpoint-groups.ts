/** What a test may see of endpoints and ask of them: `emulator.load.set('chat', { shape: 'diurnal', rate: 500 })`. */
import {
  endpointActivity,
  loadView,
  type EndpointActivity,
  type EndpointLoadView,
} from '../fleet/engine-view.ts';
import { groupView } from '../resources/endpoint-groups.ts';
import { endpointWorkers } from '../serverless/endpoints.ts';
import { noteEvent } from '../fleet/events.ts';
import type { World } from '../service/service.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import { loadRecord, loadSchema, type LoadInput } from '../state/endpoints/loads.ts';
import { settledState } from './existing.ts';

export type EndpointGroupView = ReturnType<typeof groupView>;

export interface EndpointGroups {
  /** With all defaults filled in. */
  list(): EndpointGroupView[];
  /** What is asked of one, by id or name, and what its engine made of it. @throws RangeError for one that does not exist */
  get(endpoint: number | string): EndpointActivity;
}

/** Requests that come by themselves, from now on. An endpoint is named by id or name. */
export interface Loads {
  list(): EndpointLoadView[];
  /** In place of the one that it has. @throws RangeError for an endpoint that does not exist */
  set(endpoint: number | string, load: LoadInput): EndpointLoadView;
  /** Of all endpoints, where none is named. */
  stop(endpoint?: number | string): void;
}

export function inspectEndpointGroups(world: World): EndpointGroups {
  return {
    list: () => [...settledState(world).endpointGroups.values()].map(groupView),
    get(named) {
      const state = settledState(world);
      const endpoint = endpointNamed(world, named);
      const workers = endpointWorkers(state, endpoint.id);
      const engine = world.fleets.of(endpoint.id);
      return endpointActivity(endpoint, workers, engine, { state, nowMs: world.now() });
    },
  };
}

export function inspectLoads(world: World): Loads {
  const viewOf = (endpoint: EndpointGroupRecord) => loadView(endpoint, world.fleets.of(endpoint.id));
  let revision = 0;

  /** At once: the clock may be moved next. */
  function change(endpoint: EndpointGroupRecord, load: EndpointGroupRecord['load'], text: string): void {
    endpoint.load = load;
    noteEvent(endpoint, text, world.now());
    settledState(world);
  }

  return {
    list: () => [...settledState(world).endpointGroups.values()].map(viewOf),
    set(named, load) {
      const { settings } = settledState(world);
      const endpoint = endpointNamed(world, named);
      const parsed = loadSchema.parse(load);
      revision = Math.max(revision, endpoint.load?.revision ?? 0) + 1;
      const around = { sinceMs: world.now(), revision, seed: settings.randomSeed };
      change(endpoint, loadRecord(parsed, around), `another load: ${parsed.shape}`);
      return viewOf(endpoint);
    },
    stop(named) {
      const { endpointGroups } = settledState(world);
      const stopped = named === undefined ? [...endpointGroups.values()] : [endpointNamed(world, named)];
      for (const endpoint of stopped) if (endpoint.load) change(endpoint, null, 'the load is stopped');
    },
  };
}

function endpointNamed({ state }: World, named: number | string): EndpointGroupRecord {
  for (const endpoint of state.endpointGroups.values()) {
    if (endpoint.id === Number(named) || endpoint.parameters.endpoint_name === named) return endpoint;
  }
  throw new RangeError(`no endpoint group ${named}`);
}
