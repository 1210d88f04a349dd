import { tailText } from '../worker-log/group-log.ts';
import { Refused } from '../answers/refused.ts';
import type { HandlersOf } from './define.ts';

export const workerGroupHandlers: HandlersOf<'workergroups'> = {
  'workergroups.logs': ({ id, tail }, { state, nowMs, inferenceLog }) => {
    const group = state.workerGroups.get(id);
    if (!group) {
      throw new Refused('not_found', `no worker group ${id}`, {
        reason: `id: there is no worker group ${id}`,
      });
    }
    const units = Math.min(tail, state.settings.logTailMax);
    return { logs: tailText(group.log, units, nowMs, inferenceLog) };
  },
};
