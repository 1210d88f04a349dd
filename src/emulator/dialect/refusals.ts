/** How the public service refuses, operation by operation, as far as evidence has its words (4.2, 6.1, 8.1, 10.2). */
import type { ErrorCode } from '../../contract/errors.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Refused } from '../answers/refused.ts';
import type { Call } from '../calls/call.ts';

interface Wording {
  readonly status: number;
  /** In place of the interface's code. */
  readonly code?: string;
  /** `subject`: the id that was asked for. */
  readonly says: (subject: string, userId: number | string) => string;
  /** The field of the one rule that it is about; absent: all. */
  readonly field?: string;
}
type Wordings = Readonly<Partial<Record<ErrorCode, Wording>>>;

const DEPLOYMENT: Wordings = {
  not_found: { status: 404, says: (id) => `Deployment ${id} not found.` },
  bad_request: { status: 400, says: () => 'Invalid deployment ID' },
};
const ENDPOINT: Wordings = { not_found: { status: 404, says: (id) => `Endpoint job ${id} not found` } };
const INSTANCE: Wordings = {
  not_found: { status: 404, code: 'no_such_instance', says: (id) => `Instance ${id} not found.` },
};

const WORDINGS: Readonly<Partial<Record<OperationId, Wordings>>> = {
  'deployments.get': DEPLOYMENT,
  'deployments.versions': DEPLOYMENT,
  'deployments.delete': DEPLOYMENT,
  'deployments.stop': DEPLOYMENT,
  'deployments.start': DEPLOYMENT,
  'deployments.heartbeat': DEPLOYMENT,
  'endpointGroups.get': ENDPOINT,
  'endpointGroups.delete': ENDPOINT,
  'endpointGroups.update': {
    not_found: { status: 400, says: (id, user) => `Endpoint ${id} for user ${user} not found.` },
  },
  'workergroups.update': {
    no_such_workergroup: { status: 400, says: (id) => `Workergroup ${id} not found.` },
    not_found: { status: 400, says: (id) => `Endpoint of workergroup ${id} not found.` },
  },
  'instances.update': INSTANCE,
  'instances.destroy': INSTANCE,
  'charges.list': {
    bad_request: {
      status: 400,
      field: 'select_filters',
      says: () => "Must provide both 'day' gte and lte filters for instance charges",
    },
  },
  'teams.createRole': { duplicate_role: { status: 403, says: () => 'Role already exists' } },
};

/** What is refused in another way for all operations. */
const SHARED: Wordings = { invalid_key: { status: 401, says: () => 'Invalid user key' } };

export interface PublicRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** `refused.inPublic` is of the one refusal, and outweighs the table. */
export function publicRefusal(
  { code, status, message, reason, inPublic }: Refused,
  call: Call,
): PublicRefusal {
  if (inPublic) return { code, ...inPublic };
  const id = call.target?.id;
  const wording = (id && WORDINGS[id]?.[code]) ?? SHARED[code];
  if (wording === undefined || (wording.field !== undefined && !reason.startsWith(wording.field)))
    return { status, code, message };
  const subject = call.params['id'] ?? String(call.subject ?? '');
  return {
    status: wording.status,
    code: wording.code ?? code,
    message: wording.says(subject, call.key?.userId ?? ''),
  };
}
