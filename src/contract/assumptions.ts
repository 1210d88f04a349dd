/**
 * What this project assumes of the public service; `doctor` and the daemon find out what is true. Evidence: L
 * live, S vendor's code, A its generated specification, D its documents, T somebody's word.
 */
import type { Operation } from './define.ts';
import { ERRORS, type ErrorCode } from './errors.ts';

/** `differs`: it works otherwise than the interface says. `unknown`: it could not be asked. */
export type AssumptionVerdict = 'fine' | 'differs' | 'broken' | 'unknown';

export interface AssumptionOutcome {
  readonly verdict: Exclude<AssumptionVerdict, 'unknown'>;
  readonly says: string;
}

interface Assumption {
  readonly assumes: string;
  readonly evidence: string;
  readonly reliesOn: string;
  readonly foundBy: string;
  readonly outcomes: Readonly<Record<string, AssumptionOutcome>>;
  readonly unknown: string;
}

const fine = (says: string): AssumptionOutcome => ({ verdict: 'fine', says });
const differs = (says: string): AssumptionOutcome => ({ verdict: 'differs', says });
const broken = (says: string): AssumptionOutcome => ({ verdict: 'broken', says });

const THROTTLED = {
  json: 'JSON with retry_after, and headers',
  json_without_headers: 'JSON with retry_after, without headers',
  plain: 'plain text, without headers',
  plain_with_headers: 'plain text, with headers',
  detail: 'JSON with detail and a threshold, without headers',
  detail_with_headers: 'JSON with detail and a threshold, with headers',
  error: 'the usual JSON error, without headers',
  error_with_headers: 'the usual JSON error, with headers',
} as const;

export const ASSUMPTIONS = {
  rate_limit: {
    assumes: 'A key has token buckets, one for all operations and one for each. Their sizes are not known.',
    evidence: 'captured answers (L, 1.1), a draft of the vendor (D, 1.2), spacings (A, 1.7)',
    reliesOn: 'all requests; heartbeats go first',
    foundBy: 'headers of any answer, and refusals with 429',
    outcomes: {
      unseen: fine('No answer showed a rate limit.'),
      shown: fine('Answers show a rate limit in headers; requests are paced by them.'),
      refused: differs(
        'The service refused a request with 429. Pilotlight slows down by itself; other programs with this key share the limit.',
      ),
    },
    unknown: 'No answer came.',
  },
  throttled_shape: {
    assumes: 'A 429 has one of four bodies, and says in the body or in headers when to come back.',
    evidence: 'JSON with headers captured three times (L, 1.1); older shapes (L, D, 1.6)',
    reliesOn: 'the rate limiter',
    foundBy: 'refusals with 429 that happen anyway; none is provoked',
    outcomes: Object.fromEntries(
      Object.entries(THROTTLED).map(([value, is]) => [
        value,
        fine(`429 answers are ${is}. Pilotlight understands them.`),
      ]),
    ),
    unknown: 'No request was refused with 429, and none is provoked.',
  },
  instances_v0: {
    assumes: 'Newer accounts get 410 from the old list of instances.',
    evidence: 'exact answers in four projects (L, S, 8.1)',
    reliesOn: 'instance states, prices of workers',
    foundBy: '`GET /api/v0/instances/`, once',
    outcomes: {
      answers: fine('The old list of instances answers.'),
      '410': differs('The old list of instances is gone for this account. Pilotlight uses the new one.'),
    },
    unknown: 'The old list of instances was not asked, or was refused.',
  },
  instances_v1: {
    assumes: 'The new list of instances answers in pages, and is asked first.',
    evidence: "the vendor's specification and clients (A, S, 8.2)",
    reliesOn: 'instance states, prices of workers',
    foundBy: '`GET /api/v1/instances/`',
    outcomes: {
      answers: fine('The new list of instances answers.'),
      unknown: differs('The service has no new list of instances. Pilotlight uses the old one.'),
    },
    unknown: 'The new list of instances was not asked, or was refused.',
  },
  deployments_list: {
    assumes: 'The service lists deployments with their names.',
    evidence: "the vendor's specification and client (A, S, 6.5, 6.6)",
    reliesOn: 'names in `PILOTLIGHT_DEPLOYMENTS`, TTLs that are not configured',
    foundBy: '`GET /api/v0/deployments`',
    outcomes: {
      answers: fine('The service lists deployments, so names can stand for ids.'),
      unknown: differs(
        'The service has no list of deployments. Give each deployment by its id and TTL, such as 42@300s.',
      ),
    },
    unknown:
      'The list of deployments was not asked, or was refused. It is asked if PILOTLIGHT_DEPLOYMENTS is set.',
  },
  deployment_ttl: {
    assumes: 'A deployment in the list has its TTL in seconds; null means that it lives until it is deleted.',
    evidence: "the vendor's specification (A, 6.2)",
    reliesOn: 'the interval of heartbeats',
    foundBy: 'rows of the list of deployments',
    outcomes: {
      seconds: fine('Deployments tell their TTL.'),
      none: fine('Deployments say that they have no TTL: they live until they are deleted.'),
      absent: differs(
        'Deployments do not tell their TTL. Set PILOTLIGHT_DEPLOYMENT_TTL, or 42@300s for one of them.',
      ),
    },
    unknown: 'No list of deployments had a row.',
  },
  expired_deployment: {
    assumes: 'An expired deployment answers as an unknown one: 404, not found.',
    evidence: "derived from the vendor's specification (A, 6.3); no live report",
    reliesOn: 'heartbeats that are refused: they go on slowly, and an alert fires',
    foundBy: 'the 404 of a heartbeat whose deployment had passed its TTL',
    outcomes: {
      as_unknown: fine('An expired deployment answers like an unknown one: 404, not found.'),
      own_words: differs('The 404 of an expired deployment says that it has expired.'),
    },
    unknown: 'No deployment was seen to expire.',
  },
  tail_unit: {
    assumes: '`tail` counts bytes from the end of each level, or lines; the follower learns which.',
    evidence:
      "bytes: an older vendor page (D, 2.1), a correction from live use (T, 2.2), the label in the vendor's console (L, 2.3); lines: newer vendor texts (A, D, S, 2.4)",
    reliesOn: 'the log follower',
    foundBy: 'a log of a worker group: its end, and then 64 units of it',
    outcomes: {
      lines: fine('tail counts lines.'),
      bytes: differs('tail counts bytes; the follower adapts.'),
    },
    unknown: 'No log that was asked for is long enough (1,000 characters).',
  },
  log_shape: {
    assumes: 'A log is one text, or one for each level.',
    evidence: 'levels: vendor documents and clients, live use (D, S, L, 2.6); one text: newer texts (A, 2.4)',
    reliesOn: 'the log follower, `PILOTLIGHT_FOLLOW_LEVELS`',
    foundBy: 'any answer with a log',
    outcomes: {
      text: fine('A log is one text.'),
      levels: differs('A log has a text for each level; each level is followed by itself.'),
    },
    unknown: 'No log was read.',
  },
  log_file_bytes: {
    assumes: 'Each level of a log is a file of fixed size, which is wiped when it is full.',
    evidence: 'an older vendor page (D, 2.5)',
    reliesOn: 'the pace of the log follower, gaps with the reason `reset`',
    foundBy: 'a daemon that follows the log for a while',
    outcomes: {
      begins_anew: differs(
        'A log began again while it was followed. A record with a gap (reset) says where; what was written just before may be lost.',
      ),
    },
    unknown: 'No log was seen to begin anew. A running daemon that follows it sees that.',
  },
  put_endpoint: {
    assumes: 'An update of an endpoint may reset the parameters that it leaves out.',
    evidence: "the vendor's client sends nulls, another says that they are kept (T, 4.7); no proof",
    reliesOn: '`endpoint-group update`',
    foundBy: 'an update only, and nothing here writes',
    outcomes: {
      keeps: fine('An update keeps what it leaves out.'),
      resets: differs(
        'An update resets omitted parameters. With `call`, or from a program, send every parameter.',
      ),
    },
    unknown:
      'Only an update would tell, and doctor never writes. `endpoint-group update` sends every parameter; so should programs.',
  },
  tfa_key: {
    assumes: 'On an account with 2FA, reads refuse a key that was made outside a 2FA session.',
    evidence: 'three live reports (L, 7.3)',
    reliesOn: 'all reads; heartbeats may go on',
    foundBy: 'any read',
    outcomes: {
      taken: fine('Reads take this key.'),
      refused: broken(
        'This key was made outside a 2FA session: reads are refused. Create a key while logged in with 2FA.',
      ),
    },
    unknown: 'No read was answered.',
  },
  spend: {
    assumes: 'The service tells what each endpoint costs an hour.',
    evidence: "the vendor's specification (A, 9.1)",
    reliesOn: 'what endpoints cost an hour: metrics, alerts, the bill of today',
    foundBy: '`GET /api/v0/serverless/endpoints/spend`',
    outcomes: {
      answers: fine('The service tells what each endpoint costs an hour.'),
      unknown: differs(
        'The service does not tell what endpoints cost. Costs come from the prices of instances.',
      ),
    },
    unknown: 'What endpoints cost was not asked, or was refused. It is asked if PILOTLIGHT_ENDPOINTS is set.',
  },
  load_meaning: {
    assumes: '`cur_load` of a worker is the work in flight, of older workers work a second.',
    evidence: "the vendor's code (S, 3.1, 3.2), a live reading (L, 3.3)",
    reliesOn: 'load of endpoints, on the page and in alerts',
    foundBy: 'a daemon that watches workers under load for a while',
    outcomes: {
      in_flight: fine('cur_load is the work of the requests in flight.'),
      rate: differs('cur_load is work a second, as older workers report it. Pilotlight shows it as that.'),
      mixed: differs(
        'Some workers report the work in flight, others work a second. No load is shown for their endpoint.',
      ),
    },
    unknown:
      'One look at workers does not tell. A running daemon that watches an endpoint under load finds out.',
  },
  status_flicker: {
    assumes: 'A worker that serves may be shown as offline or loading for a moment.',
    evidence: 'two live reports (L, 3.9, 8.5)',
    reliesOn: 'counts of workers, events; a status counts after two looks',
    foundBy: 'a daemon that watches workers for a while',
    outcomes: {
      flickers: differs('A ready worker was shown as not ready for one look. Such a look does not count.'),
    },
    unknown: 'No status was seen to flicker. A running daemon that watches an endpoint sees that.',
  },
  cold_at_max: {
    assumes: 'With cold_workers at max_workers the engine creates and destroys a worker again and again.',
    evidence: 'one live report, with 1 and 1 (L, 5.1)',
    reliesOn: 'the rule `cold-workers-equal-max`, the trouble `flapping`',
    foundBy: 'a daemon that watches such an endpoint for a while',
    outcomes: {
      flaps: differs('Workers come and go without ever being ready. Set cold_workers below max_workers.'),
    },
    unknown: 'No endpoint was seen to flap. A running daemon that watches one sees that.',
  },
} as const satisfies Readonly<Record<string, Assumption>>;

export type AssumptionId = keyof typeof ASSUMPTIONS;
export const ASSUMPTION_IDS = Object.keys(ASSUMPTIONS) as AssumptionId[];

export function assumptionOf(id: AssumptionId): Assumption {
  return ASSUMPTIONS[id];
}

/** The interface names error codes for 2FA only (§7), and one permission (§4.2). */
const NAMED_PERMISSION = 'user_read';

export function isErrorAssumed({ source }: Operation, code: ErrorCode): boolean {
  return ERRORS[code].assumed === true || source !== '§4.4';
}

export function isPermissionAssumed({ permission, origin }: Operation): boolean {
  return permission !== undefined && (permission !== NAMED_PERMISSION || origin !== 'interface');
}

export function assumedParts(operation: Operation): string[] {
  return [
    ...(isPermissionAssumed(operation) ? ['permission'] : []),
    ...operation.errors.filter((code) => isErrorAssumed(operation, code)),
  ];
}
