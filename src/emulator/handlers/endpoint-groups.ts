import { createGroup, groupView } from '../resources/endpoint-groups.ts';
import type { EndpointGroupRecord } from '../state/endpoint-groups.ts';
import { Refused } from '../answers/refused.ts';
import type { HandlerContext, HandlersOf } from './define.ts';

export const endpointGroupHandlers: HandlersOf<'endpointGroups'> = {
  'endpointGroups.create': (parameters, { state, user, nowMs }) => {
    const group = createGroup(state, { userId: user.id, createdMs: nowMs, parameters });
    return { success: true, result: group.id };
  },

  'endpointGroups.list': (_, { state, user }) => ({
    results: [...state.endpointGroups.values()].filter(({ userId }) => userId === user.id).map(groupView),
  }),

  /** What is not sent stays as it is. */
  'endpointGroups.update': ({ id, ...changes }, context) => {
    const group = ownGroup(id, context);
    group.parameters = { ...group.parameters, ...changes };
    return { success: true };
  },

  'endpointGroups.delete': ({ id }, context) => {
    context.state.endpointGroups.delete(ownGroup(id, context).id);
    return { success: true };
  },
};

function ownGroup(id: number, { state, user }: HandlerContext): EndpointGroupRecord {
  const group = state.endpointGroups.get(id);
  if (group?.userId === user.id) return group;
  throw new Refused('not_found', `no endpoint group ${id}`, {
    reason: `id: this account has no endpoint group ${id}`,
  });
}
