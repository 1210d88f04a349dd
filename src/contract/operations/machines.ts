import * as z from 'zod';
import { INTERFACE, type OperationTable } from '../define.ts';
import { id, openEnum, timestamp } from '../schemas.ts';

/** §2.1 */
export const MAINTENANCE_CATEGORIES = ['power', 'internet', 'disk', 'gpu', 'software', 'other'] as const;

/** §2.1 */
const maintenanceWindow = z.looseObject({
  id,
  machine_id: id,
  // The interface says whole hours; an answer with half an hour counts too.
  duration_hours: z.number().meta({ type: 'integer', description: 'length of the window in hours' }),
  start_time: timestamp.describe('when the maintenance begins'),
  maintenance_category: openEnum(MAINTENANCE_CATEGORIES),
  end_time: timestamp.optional().describe('when it ends; public dialect'),
});
export type MaintenanceWindow = z.output<typeof maintenanceWindow>;

/** Only the machine and the start are required. */
export const listedWindow = maintenanceWindow.partial({
  id: true,
  duration_hours: true,
  maintenance_category: true,
});
export type ListedWindow = z.output<typeof listedWindow>;

/** §7 quotes the first half. */
const NO_MACHINES = 'machine_ids cannot be None: name at least one machine';

const NOT_MACHINES =
  'machine ids are integers: a list of them, one, or a string with commas between them: "11,12"';

/** §4.1 */
export const machineIds = z.union(
  [
    z.array(id).min(1, NO_MACHINES),
    z
      .string()
      .min(1, NO_MACHINES)
      .regex(/^\s*\d+\s*(,\s*\d+\s*)*$/, NOT_MACHINES),
    id,
  ],
  { error: ({ input }) => (input === undefined || input === null ? NO_MACHINES : NOT_MACHINES) },
);

export const machineOperations = {
  'machines.maintenances': {
    ...INTERFACE,
    method: 'POST',
    path: '/api/v0/machines/maintenances',
    source: '§4.1',
    summary: 'List the active maintenance windows of machines',
    body: z.strictObject({
      machine_ids: machineIds.describe(
        'machine ids: integers, a comma-separated string, or a single integer',
      ),
      ctime: timestamp
        .optional()
        .describe("Unix time taken as now for dropping windows that have ended; default: the server's own"),
    }),
    response: z.array(listedWindow),
    repeatable: true,
    publicSpacingMs: 1000,
    example: {
      input: { machine_ids: [11, 12] },
      response: [
        {
          id: 1,
          machine_id: 11,
          duration_hours: 2,
          start_time: 1_790_000_000,
          maintenance_category: 'power',
        },
      ],
    },
  },
} as const satisfies OperationTable;
