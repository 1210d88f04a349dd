/** Roles of teams (§2.6, §4.5), pure. A team is that of a user whose key acts in a team's context. */
import type { TeamRoleRecord } from '../state/users.ts';
import { nextId } from '../state/next-id.ts';
import type { State } from '../state/state.ts';

/** Names are compared as they are written: `Operators` and `operators` are two roles. */
export function findRole(state: State, teamId: number, name: string): TeamRoleRecord | undefined {
  return [...state.teamRoles.values()].find((role) => role.teamId === teamId && role.name === name);
}

export function createRole(state: State, role: Omit<TeamRoleRecord, 'id'>): void {
  const id = nextId(state, 'team role', state.teamRoles.keys());
  state.teamRoles.set(id, { id, ...role });
}
