/** Endpoint groups (§2.7), pure: what was set, with the defaults filled in when shown. */
import { createHash } from 'node:crypto';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import { checkEndpointGroup, resolveDefaults } from '../../scaling/rules/check.ts';
import { nextId } from '../state/next-id.ts';
import { Refused } from '../answers/refused.ts';
import type { State } from '../state/state.ts';

/**
 * For values that the interface does not allow, each by itself. Values that are unwise together it takes, and so does
 * this: to say so is the client's part.
 * @throws Refused bad_request naming parameter and rule
 */
export function refuseBadGroup(given: unknown): void {
  const { parameters, findings } = checkEndpointGroup(given);
  const error = findings.find(({ severity }) => severity === 'error');
  if (parameters !== undefined || !error) return;
  const { parameter, rule, allowed, message, got } = error;
  const field = parameter || 'body';
  throw new Refused('bad_request', `${field}: ${message} (allowed: ${allowed})`, {
    reason: `${field}: ${rule}: allowed: ${allowed}; got ${JSON.stringify(got) ?? 'nothing'}`,
  });
}

type NewGroup = Pick<EndpointGroupRecord, 'id' | 'userId' | 'createdMs' | 'parameters'> &
  Partial<Pick<EndpointGroupRecord, 'state' | 'deploymentId' | 'load' | 'established'>>;

export function newGroup(group: NewGroup): EndpointGroupRecord {
  const begun = { apiKey: keyOf(group.id), events: [], details: [], requests: 0 };
  return { state: 'active', deploymentId: null, load: null, established: false, ...group, ...begun };
}

export function createGroup(state: State, group: Omit<NewGroup, 'id'>): EndpointGroupRecord {
  const record = newGroup({ id: nextId(state, 'endpoint group', state.endpointGroups.keys()), ...group });
  state.endpointGroups.set(record.id, record);
  return record;
}

/** 64 hexadecimal digits, as the keys of accounts are; the same in each run. */
function keyOf(id: number): string {
  return createHash('sha256').update(`key of endpoint group ${id}`).digest('hex');
}

/** A group without its key; null where there is neither a value nor a default. */
export function groupView({ id, userId, createdMs, parameters, state }: EndpointGroupRecord) {
  const resolved = resolveDefaults(parameters);
  return {
    id,
    user_id: userId,
    created_at: createdMs / 1000,
    ...resolved,
    endpoint_name: resolved.endpoint_name ?? null,
    endpoint_state: state,
    inactivity_timeout: resolved.inactivity_timeout ?? null,
  };
}
