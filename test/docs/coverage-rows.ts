/**
 * Every row of the interface document, and the test that proves it. Operations, error codes and limits come
 * from the contract; field tables (§2), moves (§3), authentication rules (§5) and versioning (§9) have no data of their own
 * in the code, so they are listed here by hand.
 */
import { ERRORS, type ErrorDefinition } from '../../src/contract/errors.ts';
import type { LIMITS } from '../../src/contract/limits.ts';
import { OPERATION_IDS, operationOf } from '../../src/contract/operations.ts';

export interface CoverageRow {
  readonly section: string;
  readonly subject: string;
  /** Test file below test/, and a part of its source that names the test. */
  readonly file: string;
  readonly names: string;
}

const OPERATIONS_FILE = 'integration/emulator/operations.test.ts';
const EVERY_OPERATION = 'integration/client/every-operation.test.ts';
const RESOURCES = 'integration/emulator/resources.test.ts';
const PUBLIC_RESOURCES = 'integration/emulator/public-resources.test.ts';
const ANSWERS = 'unit/emulator/handlers/answers.ts';
const KEYS = 'unit/emulator/handlers/keys.test.ts';
const TTL = 'unit/emulator/handlers/deployments.test.ts';
const MOVES = 'unit/emulator/tfa/moves.test.ts';
const VERIFICATION = 'unit/emulator/tfa/verification.test.ts';
const MATRIX = 'unit/emulator/tfa/matrix.test.ts';
const ERROR_CASES = 'unit/emulator/tfa/errors.test.ts';
const TEMPLATES = 'unit/emulator/handlers/templates.test.ts';
const MERGE = 'unit/contract/merge.test.ts';
const LAUNCH = 'integration/client/launch.test.ts';
const SCALING = 'unit/scaling/rules/check.test.ts';

function row(section: string, subject: string, file: string, names: string): CoverageRow {
  return { section, subject, file, names };
}

const fieldTables: readonly CoverageRow[] = [
  row(
    '§2.1',
    'maintenance window',
    OPERATIONS_FILE,
    'maintenance windows that have ended by ctime are left out',
  ),
  row(
    '§2.2',
    'template fields, with their defaults',
    RESOURCES,
    'are stored with their defaults, and found by what they are',
  ),
  row(
    '§2.2',
    'template identifiers: id, hash_id',
    TEMPLATES,
    'changes with every edit that changes anything',
  ),
  row('§2.2', 'template search fields', TEMPLATES, 'knows all sixteen fields'),
  row('§2.2', 'template envelopes', RESOURCES, 'get another hash with an edit, and the old one is gone'),
  row('§2.3', 'instance creation request', RESOURCES, 'shows what template and request came to'),
  row('§2.3', 'volume_info', RESOURCES, 'may attach a volume'),
  row('§2.3', 'merge rule 1: scalars', MERGE, '1: a scalar of the request overrides the template'),
  row('§2.3', 'merge rule 2: env', MERGE, '2: env entries of both are there'),
  row('§2.3', 'merge rule 3: extra_filters', MERGE, '3: extra_filters are merged by key'),
  row('§2.3', 'merge rule 4: volume_info', MERGE, '4: a volume comes from the request or not at all'),
  row('§2.4', '2FA method', MOVES, 'grows by a phone number, shown masked'),
  row('§2.4', 'user object', ANSWERS, 'GET /api/v0/users/current/'),
  row('§2.4', 'backup code format', 'integration/client/tfa.test.ts', 'ten backup codes, shown once'),
  row('§2.5', 'API key and its permission set', KEYS, 'a scoped key can do what its permissions say'),
  row('§2.6', 'team role', RESOURCES, 'is created for the team of the key'),
  row('§2.7', 'endpoint-group parameters and defaults', ANSWERS, 'GET /api/v0/endptjobs/31/'),
  row('§2.8', 'deployment and its TTL', TTL, 'the books agree with the gaps between heartbeats'),
  row('§2.8', 'worker group and its log', OPERATIONS_FILE, "a worker group's"),
];

const moves: readonly CoverageRow[] = [
  row('§3', 'instance statuses', RESOURCES, 'goes through the statuses of its offer'),
  row(
    '§3',
    'exited, unknown, offline never run: destroy and retry',
    LAUNCH,
    'is destroyed, and the next offer tried',
  ),
  row('§3', 'add-method authorization', MOVES, 'add-method authorization'),
  row(
    '§3',
    'method added by confirm-new',
    MOVES,
    'grows by an authenticator; the first method comes with 10 backup codes',
  ),
  row('§3', 'method removed', MOVES, 'shrinks by a named method'),
  row(
    '§3',
    'last method removed: 2FA off',
    MOVES,
    'shrinks by the method that verified, and with the last one 2FA ends',
  ),
  row('§3', 'backup codes regenerated', MOVES, 'are replaced by a fresh set of 10'),
  row(
    '§3',
    'legacy account back-filled',
    MOVES,
    'becomes a tracked one when it regenerates its backup codes',
  ),
  row('§3', 'method locked', VERIFICATION, 'comes when failures exceed the threshold, lasts 15 minutes'),
  row('§3', 'challenge expired', VERIFICATION, 'is valid for 10 minutes, to the millisecond, and once'),
  row(
    '§3',
    'API key reset',
    PUBLIC_RESOURCES,
    'get another value by a reset, and the old one is 401 at once',
  ),
  row('§3', 'API key deleted', KEYS, 'a key that is reset or deleted is refused at once'),
  row('§3', 'heartbeat', TTL, 'the books agree with the gaps between heartbeats'),
];

const authentication: readonly CoverageRow[] = [
  row('§5.1', 'every endpoint needs a key', 'unit/emulator/handlers/refusals.ts', 'nobody: GET'),
  row('§5.2', 'shown once, reset, deleted', PUBLIC_RESOURCES, 'are created with their value shown once'),
  row('§5.3', 'full access and scoped keys', PUBLIC_RESOURCES, 'without permissions have full access'),
  row('§5.4', 'session_key as Bearer', VERIFICATION, 'with a key gives a session_key that is a Bearer value'),
  row('§5.5', 'no 2FA in a team context', ERROR_CASES, 'team_user_forbidden'),
  row('§5.6', 'verified e-mail, and who is exempt', VERIFICATION, 'may be sent to an unverified admin by'),
  row('§5.7', 'verification matrix', MATRIX, 'the contract says of %s what the document says'),
  row('§5.8', 'logged-out path by tfa_secret', MATRIX, 'secretAlone'),
  row('§5.9', 'neither key nor secret: 401', ERROR_CASES, 'missing_auth_value'),
];

const versioning: readonly CoverageRow[] = [
  row(
    '§9',
    'deprecated paths remain active',
    VERIFICATION,
    'the deprecated paths do what those that replace them do',
  ),
  row('§9', 'hash_id changes with every edit', TEMPLATES, 'changes with every edit that changes anything'),
];

/** Each limit of LIMITS has to be here: a new one without a test does not compile. */
const LIMIT_TESTS: Record<keyof typeof LIMITS, readonly [file: string, names: string]> = {
  onstartLength: [
    'unit/client/flows/launch.test.ts',
    'that is too long even so is refused with both lengths',
  ],
  methodLabelLength: ['unit/emulator/tfa/errors.test.ts', 'label'],
  backupCodesPerSet: [MOVES, 'are replaced by a fresh set of 10'],
  challengeValiditySeconds: [VERIFICATION, 'is valid for 10 minutes, to the millisecond, and once'],
  addMethodWindowSeconds: [MOVES, 'add-method authorization'],
  methodLockoutSeconds: [VERIFICATION, 'lasts 15 minutes'],
  recommendedDiskSpaceGb: [RESOURCES, 'are stored with their defaults'],
  targetUtilMax: [SCALING, "['error target-util-range', { target_util: 1 + Number.EPSILON }"],
  logTailMax: [PUBLIC_RESOURCES, 'a tail that is not given'],
  chargesPageMax: ['unit/emulator/handlers/spend.test.ts', 'a page has at most 500 rows'],
  bulkOffersMax: ['integration/emulator/public-instances.test.ts', 'of which none can be had'],
};

function limits(): CoverageRow[] {
  return Object.entries(LIMIT_TESTS).map(([name, [file, names]]) => row('§8', name, file, names));
}

/** Each through the typed client, against the emulator. */
function operations(): CoverageRow[] {
  const names = 'test.each(OPERATION_IDS)';
  return OPERATION_IDS.map((id) => row(operationOf(id).source, id, EVERY_OPERATION, names));
}

function errorCodes(): CoverageRow[] {
  return Object.entries(ERRORS as Record<string, ErrorDefinition>)
    .filter(([, { assumed }]) => !assumed)
    .map(([code]) => row('§7', code, ERROR_CASES, code));
}

export const COVERAGE: readonly CoverageRow[] = [
  ...fieldTables,
  ...moves,
  ...operations(),
  ...authentication,
  ...errorCodes(),
  ...limits(),
  ...versioning,
];
