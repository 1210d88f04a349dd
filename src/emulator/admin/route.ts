/** What a route of the admin API is, and what it works on. */
import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Control } from '../service/control.ts';
import type { DialectName } from '../dialect/dialect.ts';
import type { Faults } from '../faults/injector.ts';
import type { ApiKeys } from '../inspect/api-keys.ts';
import type { Deployments } from '../inspect/deployments.ts';
import type { EndpointGroups, Loads } from '../inspect/endpoint-groups.ts';
import type { Instances } from '../inspect/instances.ts';
import type { Machines } from '../inspect/machines.ts';
import type { WorkerGroups } from '../inspect/worker-groups.ts';
import type { Resources } from '../inspect/resources.ts';
import type { Journal } from '../journal/journal.ts';
import type { TraitSwitches } from '../inspect/traits.ts';
import type { World } from '../service/service.ts';
import type { Outbox, TotpHelper, TwoFactor } from '../inspect/two-factor.ts';

export interface AdminRequest<Body = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Body;
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/_emulator`. */
  readonly path: string;
  readonly summary: string;
  readonly body?: z.ZodType;
  run(request: AdminRequest): unknown;
}

/** What the admin API works on: the in-process API. */
export interface AdminParts extends Resources {
  readonly dialect: DialectName;
  readonly world: World;
  readonly control: Control;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
  readonly apiKeys: ApiKeys;
  readonly deployments: Deployments;
  readonly workergroups: WorkerGroups;
  readonly instances: Instances;
  readonly machines: Machines;
  readonly endpointGroups: EndpointGroups;
  readonly load: Loads;
  readonly traits: TraitSwitches;
  readonly outbox: Outbox;
  readonly totp: TotpHelper;
  readonly tfa: TwoFactor;
}

export function route(
  method: AdminRoute['method'],
  path: string,
  summary: string,
  run: (request: AdminRequest) => unknown,
): AdminRoute {
  return { method, path, summary, run };
}

/** A route whose body has been parsed by `body` when it runs. */
export function bodyRoute<Schema extends z.ZodType>(
  method: AdminRoute['method'],
  path: string,
  summary: string,
  body: Schema,
  run: (request: AdminRequest<z.output<Schema>>) => unknown,
): AdminRoute {
  return { method, path, summary, body, run: (request) => run(request as AdminRequest<z.output<Schema>>) };
}

/** @throws Error for an `{id}` in the path that is no integer */
export function idOf(params: Readonly<Record<string, string>>): number {
  const id = Number(params['id']);
  if (!Number.isSafeInteger(id)) throw new Error(`id: "${params['id']}" is no integer`);
  return id;
}
