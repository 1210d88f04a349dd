/**
 * An operation is data. Client, emulator, OpenAPI document, commands and metric labels derive from it. Rules are between
 * the fields of a request; the service checks what depends on the account.
 */
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import { isRecord } from './is-record.ts';

export type Base = 'main' | 'serverless';

/** `public dialect`: only the public service documents it. */
type Origin = 'interface' | 'public dialect';

/** One row of the verification matrix, §5.7. A Bearer key is accepted everywhere. */
export interface Verification {
  /** A `secret` in the body stands in for a key. */
  readonly secretAlone: boolean;
  readonly secret: 'never' | 'without bearer' | 'for sms and email' | 'always';
}

const BEARER_ONLY: Verification = { secretAlone: false, secret: 'never' };

export const INTERFACE = {
  base: 'main',
  origin: 'interface',
  verification: BEARER_ONLY,
  errors: [],
  repeatable: false,
} as const;
export const PUBLIC_DIALECT = { ...INTERFACE, origin: 'public dialect', source: 'public dialect' } as const;
/** Repeating one of these writes changes no more. */
export const PUBLIC_WRITE = { ...PUBLIC_DIALECT, permission: 'instance_write', repeatable: true } as const;
export const PUBLIC_READ = { ...PUBLIC_DIALECT, method: 'GET', repeatable: true } as const;

interface Example {
  readonly input: Readonly<Record<string, unknown>>;
  readonly response: unknown;
}

interface OtherWords {
  readonly says: RegExp;
  readonly means: 'not-found' | ((body: Readonly<Record<string, unknown>>) => unknown);
}

export interface Rule {
  /** The field that the message names; dots lead into an object. */
  readonly field: string;
  readonly says: string;
  readonly error: ErrorCode;
  readonly isBroken: (fields: Readonly<Record<string, unknown>>) => boolean;
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path with `{name}` placeholders. Servers accept it with and without a slash at the end. */
  readonly path: `/${string}`;
  readonly base: Base;
  readonly origin: Origin;
  readonly source: string;
  readonly summary: string;
  readonly description?: string;
  readonly verification: Verification;
  /** Body field that repeats the API key. */
  readonly keyInBody?: string;
  readonly permission?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly rules?: readonly Rule[];
  readonly response: z.ZodType;
  readonly otherWords?: readonly OtherWords[];
  /** The field that is null if the id is unknown. */
  readonly nullIfNone?: string;
  /** Errors beside those that any operation may answer. */
  readonly errors: readonly ErrorCode[];
  /** A failed exchange may be repeated. */
  readonly repeatable: boolean;
  /** Least ms between two calls with one key, by the public dialect (evidence 1.7, never measured). */
  readonly publicSpacingMs?: number;
  /** Deprecated: the id of the operation to use instead. */
  readonly replacedBy?: string;
  readonly example: Example;
}

export type OperationTable = Readonly<Record<`${string}.${string}`, Operation>>;

const isMissing = (value: unknown): boolean => value === undefined || value === null;

function oneOf(field: string, other: string, error: ErrorCode = 'bad_request'): Rule {
  const isBroken: Rule['isBroken'] = (fields) => isMissing(fields[field]) && isMissing(fields[other]);
  return { field, says: `needed without ${other}`, error, isBroken };
}

export const IMAGE_OR_TEMPLATE = oneOf('image', 'template_hash_id');
export const CODE_OR_BACKUP_CODE = oneOf('code', 'backup_code', 'missing_auth_value');
export const METHOD_OR_ITS_ID = oneOf('tfa_method_id', 'tfa_method');

export const NEW_VOLUME_HAS_SIZE: Rule = {
  field: 'volume_info.size',
  says: 'needed for a new volume, in GB',
  error: 'bad_request',
  isBroken: ({ volume_info: volume }) =>
    isRecord(volume) && volume['create_new'] === true && isMissing(volume['size']),
};

export const TARGET_OF_BACKUP_CODE: Rule = {
  field: 'target_id',
  says: 'needed with backup_code, which is not of a method',
  error: 'bad_request',
  isBroken: ({ target_id: target, backup_code: backup }) => isMissing(target) && !isMissing(backup),
};

export const NUMBER_OF_SMS: Rule = {
  field: 'phone_number',
  says: 'needed with tfa_method sms',
  error: 'missing_phone_number',
  isBroken: ({ tfa_method: method, phone_number: number }) => method === 'sms' && isMissing(number),
};

export const DAY_RANGE: Rule = {
  field: 'select_filters',
  says: 'needed with both gte and lte of day',
  error: 'bad_request',
  isBroken({ select_filters: filters }) {
    const day = isRecord(filters) ? filters['day'] : undefined;
    return isRecord(day) && (isMissing(day['gte']) || isMissing(day['lte']));
  },
};

/** §5.7. A login's method is sms by default (§4.4); elsewhere the service knows it. */
const secretOfSentCode = (byDefault: 'sms' | undefined): Rule => ({
  field: 'secret',
  says: 'needed with a code by sms or email',
  error: 'missing_params',
  isBroken({ secret, code, backup_code: backup, tfa_method: method, tfa_method_id: id }) {
    if (!isMissing(secret) || isMissing(code) || !isMissing(backup)) return false;
    const by = method ?? (isMissing(id) ? byDefault : undefined);
    return by === 'sms' || by === 'email';
  },
});
const SECRET_OF_LOGIN = secretOfSentCode('sms');
const SECRET_OF_CHANGE = secretOfSentCode(undefined);

export function rulesOf({ rules = [], verification }: Operation): readonly Rule[] {
  if (verification.secret !== 'for sms and email') return rules;
  return [...rules, verification.secretAlone ? SECRET_OF_LOGIN : SECRET_OF_CHANGE];
}

/** §5.7 to §5.9. */
export function missingWithoutKey(
  { verification }: Operation,
  { secret }: Readonly<Record<string, unknown>>,
): { readonly field: string; readonly message: string } | undefined {
  if (!verification.secretAlone) return { field: 'apiKey', message: 'this operation needs an API key' };
  return isMissing(secret) ? { field: 'secret', message: 'needed without an API key' } : undefined;
}

export function sentencesOf(operation: Operation): string[] {
  return rulesOf(operation).map(({ field, says }) => `${field} is ${says}.`);
}
