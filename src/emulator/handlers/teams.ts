import { Refused } from '../answers/refused.ts';
import { createRole, findRole } from '../resources/team-roles.ts';
import type { HandlersOf } from './define.ts';

export const teamHandlers: HandlersOf<'teams'> = {
  'teams.createRole': ({ name, permissions }, { state, key, user, nowMs }) => {
    if (!key.team) {
      throw new Refused('team_required', 'roles belong to a team, and this key acts for you alone', {
        reason: `authorization: key "${key.name}" does not act in a team context (§4.5)`,
      });
    }
    if (findRole(state, user.teamId, name)) {
      throw new Refused('duplicate_role', `there is a role "${name}" already`, {
        reason: `name: team ${user.teamId} has a role of this name`,
      });
    }
    createRole(state, { teamId: user.teamId, name, permissions, createdMs: nowMs });
    return { msg: `Role ${name} created` };
  },
};
