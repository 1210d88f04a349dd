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

const RESOURCES = 'integration/emulator/resources.test.ts';
const PUBLIC_RESOURCES = 'integration/emulator/public-resources.test.ts';
const TTL = 'unit/emulator/handlers/deployments.test.ts';
const MOVES = 'unit/emulator/tfa/moves.test.ts';
const VERIFICATION = 'unit/emulator/tfa/verification.test.ts';
const ERROR_CASES = 'unit/emulator/tfa/errors.test.ts';

/** By file of tests: section and subject of a row, and a part of the test's source that names it. */
const BY_HAND: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [RESOURCES]: {
    '§2.1 maintenance window': 'maintenance windows that have ended by ctime are left out',
    '§2.2 template fields, with their defaults': 'are stored with their defaults, and found by what they are',
    '§2.2 template envelopes': 'get another hash with an edit, and the old one is gone',
    '§2.2 template identifiers: id, hash_id': 'get another hash with an edit, and the old one is gone',
    '§2.3 instance creation request': 'shows what template and request came to',
    '§2.3 volume_info': 'may attach a volume',
    '§2.6 team role': 'is created for the team of the key',
    '§2.8 worker group and its log': "a worker group's",
    '§3 instance statuses': 'goes through the statuses of its offer',
    '§9 hash_id changes with every edit': 'get another hash with an edit, and the old one is gone',
  },
  'unit/emulator/handlers/templates.test.ts': {
    '§2.2 template search fields': 'knows all sixteen fields',
  },
  'unit/contract/merge.test.ts': {
    '§2.3 merge rule 1: scalars': '1: a scalar of the request overrides the template',
    '§2.3 merge rule 2: env': '2: env entries of both are there',
    '§2.3 merge rule 3: extra_filters': '3: extra_filters are merged by key',
    '§2.3 merge rule 4: volume_info': '4: a volume comes from the request or not at all',
  },
  [MOVES]: {
    '§2.4 2FA method': 'grows by a phone number, shown masked',
    '§3 add-method authorization': 'add-method authorization',
    '§3 method added by confirm-new':
      'grows by an authenticator; the first method comes with 10 backup codes',
    '§3 method removed': 'shrinks by a named method',
    '§3 last method removed: 2FA off': 'shrinks by the method that verified, and with the last one 2FA ends',
    '§3 backup codes regenerated': 'are replaced by a fresh set of 10',
    '§3 legacy account back-filled': 'becomes a tracked one when it regenerates its backup codes',
  },
  'unit/emulator/handlers/answers.ts': {
    '§2.4 user object': 'GET /api/v0/users/current/',
    '§2.7 endpoint-group parameters and defaults': 'GET /api/v0/endptjobs/31/',
  },
  'integration/client/tfa.test.ts': {
    '§2.4 backup code format': 'ten backup codes, shown once',
  },
  'unit/emulator/handlers/keys.test.ts': {
    '§2.5 API key and its permission set': 'a scoped key can do what its permissions say',
  },
  [TTL]: {
    '§2.8 deployment and its TTL': 'the books agree with the gaps between heartbeats',
    '§3 heartbeat': 'the books agree with the gaps between heartbeats',
  },
  'unit/client/flows/launch.test.ts': {
    '§3 exited, unknown, offline never run: destroy and retry':
      'is given up, and the function of the caller destroys it',
  },
  [VERIFICATION]: {
    '§3 method locked': 'comes when failures exceed the threshold, lasts 15 minutes',
    '§3 challenge expired': 'is valid for 10 minutes, to the millisecond, and once',
    '§5.4 session_key as Bearer': 'with a key gives a session_key that is a Bearer value',
    '§5.6 verified e-mail, and who is exempt': 'may be sent to an unverified admin by',
    '§9 deprecated paths remain active': 'the deprecated paths do what those that replace them do',
  },
  [PUBLIC_RESOURCES]: {
    '§3 API key deleted': 'listed without it, and deleted',
    '§3 API key reset': 'get another value by a reset, and the old one is 401 at once',
    '§5.2 shown once, reset, deleted': 'are created with their value shown once',
    '§5.3 full access and scoped keys': 'without permissions have full access',
  },
  'unit/emulator/handlers/refusals.ts': {
    '§5.1 every endpoint needs a key': 'nobody: GET',
  },
  [ERROR_CASES]: {
    '§5.5 no 2FA in a team context': 'team_user_forbidden',
    '§5.9 neither key nor secret: 401': 'missing_auth_value',
  },
  'unit/emulator/tfa/matrix.test.ts': {
    '§5.7 verification matrix': 'the contract says of %s what the document says',
    '§5.8 logged-out path by tfa_secret': 'secretAlone',
  },
};

function byHand(): CoverageRow[] {
  return Object.entries(BY_HAND).flatMap(([file, rows]) =>
    Object.entries(rows).map(([title, names]) => {
      const [section = '', ...subject] = title.split(' ');
      return { section, subject: subject.join(' '), file, names };
    }),
  );
}

/** Each limit of LIMITS has to be here: a new one without a test does not compile. */
const LIMIT_TESTS: Record<keyof typeof LIMITS, readonly [file: string, names: string]> = {
  onstartLength: [
    'unit/client/flows/launch.test.ts',
    'options that cannot work are refused before anything is rented',
  ],
  methodLabelLength: ['unit/emulator/tfa/errors.test.ts', 'label'],
  backupCodesPerSet: [MOVES, 'are replaced by a fresh set of 10'],
  challengeValiditySeconds: [VERIFICATION, 'is valid for 10 minutes, to the millisecond, and once'],
  addMethodWindowSeconds: [MOVES, 'add-method authorization'],
  methodLockoutSeconds: [VERIFICATION, 'lasts 15 minutes'],
  recommendedDiskSpaceGb: [RESOURCES, 'are stored with their defaults'],
  targetUtilMax: [
    'unit/scaling/rules/check.test.ts',
    "['error target-util-range', { target_util: 1 + Number.EPSILON }",
  ],
  logTailMax: [PUBLIC_RESOURCES, 'a tail that is not given'],
  chargesPageMax: ['unit/emulator/handlers/spend.test.ts', 'a page has at most 500 rows'],
  bulkOffersMax: ['integration/emulator/public-instances.test.ts', 'of which none can be had'],
};

function limits(): CoverageRow[] {
  return Object.entries(LIMIT_TESTS).map(([subject, [file, names]]) => ({
    section: '§8',
    subject,
    file,
    names,
  }));
}

/** Each as a command, which goes through the typed client, against the emulator. */
function operations(): CoverageRow[] {
  const names = '%s works as a command against the emulator';
  return OPERATION_IDS.map((id) => ({
    section: operationOf(id).source,
    subject: id,
    file: 'integration/cli/every-operation.test.ts',
    names,
  }));
}

function errorCodes(): CoverageRow[] {
  return Object.entries(ERRORS as Record<string, ErrorDefinition>)
    .filter(([, { assumed }]) => !assumed)
    .map(([code]) => ({ section: '§7', subject: code, file: ERROR_CASES, names: code }));
}

export const COVERAGE: readonly CoverageRow[] = [
  ...byHand(),
  ...operations(),
  ...errorCodes(),
  ...limits(),
].toSorted((one, other) => one.section.localeCompare(other.section, 'en', { numeric: true }));
