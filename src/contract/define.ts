/** An operation is data. Client, emulator, OpenAPI document, commands and metric labels derive from it. */
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

export type Base = 'main' | 'serverless';

/** `public dialect`: only the public service documents it. */
export type Origin = 'interface' | 'public dialect';

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

export interface Example {
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
