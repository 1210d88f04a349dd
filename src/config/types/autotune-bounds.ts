/** AUTOTUNE_BOUNDS: what steering may move, and how far. */
import { parseBounds, type BoundsByEndpoint } from '../../scaling/autotune/bounds.ts';
import type { ValueType } from './value-types.ts';

export const autotuneBounds: ValueType<BoundsByEndpoint> = {
  name: 'JSON object',
  parse(text) {
    const { bounds, problems } = parseBounds(text);
    return { value: bounds, problems };
  },
};
