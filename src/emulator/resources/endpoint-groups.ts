/** Endpoint groups (§2.7), pure: what was set, with the defaults filled in when shown. */
import type { EndpointGroupRecord } from '../state/endpoint-groups.ts';
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

export function createGroup(state: State, group: Omit<EndpointGroupRecord, 'id'>): EndpointGroupRecord {
  const record = { id: nextId(state, 'endpoint group', state.endpointGroups.keys()), ...group };
  state.endpointGroups.set(record.id, record);
  return record;
}

/** A group as it is answered; null where there is neither a value nor a default. */
export function groupView({ id, userId, createdMs, parameters }: EndpointGroupRecord) {
  const resolved = resolveDefaults(parameters);
  return {
    id,
    user_id: userId,
    created_at: createdMs / 1000,
    ...resolved,
    endpoint_name: resolved.endpoint_name ?? null,
    inactivity_timeout: resolved.inactivity_timeout ?? null,
  };
}
