/** What is asked of endpoints, and what their engines make of it. */
import * as z from 'zod';
import { loadSchema } from '../state/endpoints/loads.ts';
import { bodyRoute, route, type AdminParts, type AdminRoute } from './route.ts';

const endpointName = z.union([z.string().min(1), z.int()]).describe('name or id of the endpoint group');
/** Which endpoint, and beside it the load as a seed has it. */
const endpointLoad = z.looseObject({ endpoint: endpointName });

export function fleetRoutes({ endpointGroups, load }: AdminParts): AdminRoute[] {
  return [
    route(
      'GET',
      '/endpoint-groups/{endpoint}',
      'by id or name: load, workers, queue times, worker seconds since its engine began',
      ({ params }) => endpointGroups.get(params['endpoint'] ?? ''),
    ),
    route('GET', '/load', 'the load of each endpoint', () => ({ loads: load.list() })),
    bodyRoute(
      'PUT',
      '/load',
      'another load from now on: endpoint, shape, rate …, as in a seed',
      endpointLoad,
      ({ body: { endpoint, ...given } }) => load.set(endpoint, loadSchema.parse(given)),
    ),
    route('DELETE', '/load', 'no load any more; of one alone with ?endpoint=', ({ query }) =>
      load.stop(query['endpoint']),
    ),
  ];
}
