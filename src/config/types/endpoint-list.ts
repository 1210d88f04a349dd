/** The value of ENDPOINTS: `31,chat`, or `all`. */
import { labelOf, type WantedEndpoint } from '../../fleet/discovery/wanted.ts';
import { id, listOf, unique, type ValueType } from './value-types.ts';

const wantedEndpoint: ValueType<WantedEndpoint> = {
  name: 'ID, NAME, or all',
  parse(text) {
    if (text === 'all') return { value: { by: 'all' }, problems: [] };
    const { value } = id.parse(text);
    if (value !== undefined) return { value: { by: 'id', id: value }, problems: [] };
    if (text !== '') return { value: { by: 'name', name: text }, problems: [] };
    return {
      value: undefined,
      problems: [{ at: '', got: text, allowed: 'the id or the name of an endpoint, or all' }],
    };
  },
};

export const endpointList: ValueType<readonly WantedEndpoint[]> = unique(
  listOf('list of ID, NAME, or all', wantedEndpoint),
  labelOf,
);
