/** The published JSON Schema of /api/status: served at /api/status/schema, and in the tree as deploy/status.schema.json. */
import * as z from 'zod';
import { statusSchema } from './status.ts';

/** Fields may be added to it, so a reader must pass over those that it does not know. */
export function statusJsonSchema(): Record<string, unknown> {
  return {
    title: 'Status of a Pilotlight daemon',
    ...z.toJSONSchema(statusSchema, { io: 'input', target: 'draft-2020-12' }),
  };
}
