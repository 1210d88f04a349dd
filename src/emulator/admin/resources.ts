/** What the emulated service contains, to be looked at and changed from outside. */
import * as z from 'zod';
import { INSTANCE_STATUSES } from '../../contract/operations/instances/instance-list.ts';
import { maintenanceWindow } from '../../contract/operations/machines.ts';
import { offerEntry } from '../seed/resource-schema.ts';
import { apiKeyEntry, deploymentChanges, deploymentEntry } from '../seed/schema.ts';
import { bodyRoute, idOf, route, type AdminParts, type AdminRoute } from './route.ts';

const lines = z.union([z.strictObject({ lines: z.array(z.string()) }), z.strictObject({ text: z.string() })]);

const keyValue = apiKeyEntry.pick({ key: true });
const keyEntry = apiKeyEntry.omit({ name: true });
const newDeployment = deploymentEntry.omit({ id: true });
const rate = z.strictObject({ linesPerSecond: z.number().nonnegative() });
const status = z.strictObject({ actual_status: z.enum(INSTANCE_STATUSES) });
const offer = offerEntry.omit({ id: true });
const windows = z.strictObject({
  maintenances: z.array(maintenanceWindow.extend({ duration_hours: z.int().positive() })),
});

export function resourceRoutes(parts: AdminParts): AdminRoute[] {
  return [
    ...keyRoutes(parts),
    ...deploymentRoutes(parts),
    ...workerGroupRoutes(parts),
    ...rentalRoutes(parts),
  ];
}

function keyRoutes({ apiKeys }: AdminParts): AdminRoute[] {
  return [
    bodyRoute('PUT', '/api-keys/{name}', 'adds an API key', keyEntry, ({ params, body }) =>
      apiKeys.add({ name: params['name'] ?? '', ...body }),
    ),
    bodyRoute('POST', '/api-keys/{name}/reset', 'a new value; the old one gets 401', keyValue, (request) =>
      apiKeys.reset(request.params['name'] ?? '', request.body.key),
    ),
    route('DELETE', '/api-keys/{name}', 'deletes it', ({ params }) => apiKeys.remove(params['name'] ?? '')),
  ];
}

function deploymentRoutes({ deployments }: AdminParts): AdminRoute[] {
  return [
    route('GET', '/deployments/{id}', 'one deployment and how close it came to expiry', ({ params }) =>
      deployments.get(idOf(params)),
    ),
    bodyRoute('PUT', '/deployments/{id}', 'adds or replaces it: ttl in seconds', newDeployment, (request) =>
      deployments.add({ id: idOf(request.params), ...request.body }),
    ),
    bodyRoute(
      'POST',
      '/deployments/{id}',
      'changes its ttl, name, tag, state',
      deploymentChanges,
      (request) => deployments.change(idOf(request.params), request.body),
    ),
    route(
      'POST',
      '/deployments/{id}/redeploy',
      'the same under a new id, which it answers',
      ({ params }) => ({
        id: deployments.redeploy(idOf(params)),
      }),
    ),
    route('DELETE', '/deployments/{id}', 'removes it', ({ params }) => deployments.remove(idOf(params))),
  ];
}

function workerGroupRoutes({ workergroups }: AdminParts): AdminRoute[] {
  return [
    bodyRoute('POST', '/workergroups/{id}/lines', 'writes lines, or text', lines, ({ params, body }) => {
      if ('lines' in body) workergroups.append(idOf(params), body.lines);
      else workergroups.write(idOf(params), body.text);
    }),
    route('DELETE', '/workergroups/{id}/lines', 'throws its log away', ({ params }) =>
      workergroups.clear(idOf(params)),
    ),
    bodyRoute('PUT', '/workergroups/{id}/rate', 'lines per second from now on', rate, ({ params, body }) =>
      workergroups.setRate(idOf(params), body.linesPerSecond),
    ),
  ];
}

function rentalRoutes({ instances, offers, machines }: AdminParts): AdminRoute[] {
  return [
    bodyRoute('PUT', '/instances/{id}/status', 'its status from now on', status, ({ params, body }) =>
      instances.setStatus(idOf(params), body.actual_status),
    ),
    bodyRoute('PUT', '/offers/{id}', 'adds or replaces a machine offer', offer, ({ params, body }) =>
      offers.add({ id: idOf(params), ...body }),
    ),
    bodyRoute('PUT', '/machines/{id}/maintenances', 'its maintenance windows', windows, ({ params, body }) =>
      machines.setMaintenances(idOf(params), body.maintenances),
    ),
  ];
}
