/** The value of WORKER_GROUPS: `7,endpoint:chat`, or `all`. */
import { labelOf, type WantedGroup } from '../../logs/lookup/wanted.ts';
import { id, listOf, unique, type ValueType } from './value-types.ts';

const ENDPOINT_PREFIX = 'endpoint:';
const ALLOWED = 'the id of a worker group, endpoint:NAME, or all';

const wantedGroup: ValueType<WantedGroup> = {
  name: 'ID, endpoint:NAME, or all',
  parse(text) {
    if (text === 'all') return { value: { by: 'all' }, problems: [] };
    if (text.startsWith(ENDPOINT_PREFIX)) {
      const name = text.slice(ENDPOINT_PREFIX.length).trim();
      if (name !== '') return { value: { by: 'endpoint', name }, problems: [] };
    }
    const { value } = id.parse(text);
    if (value !== undefined) return { value: { by: 'id', id: value }, problems: [] };
    return { value: undefined, problems: [{ at: '', got: text, allowed: ALLOWED }] };
  },
};

export const groupList: ValueType<readonly WantedGroup[]> = unique(
  listOf('list of ID, endpoint:NAME, or all', wantedGroup),
  labelOf,
);
