/**
 * What an operation of the interface is: data. The client, the emulator's routes, the OpenAPI document, the
 * command line and the metrics' `operation` label all derive from such literals; there is no second list.
 */
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

/** Which address an operation lives at: `{base_url}` or `{serverless_url}` of the interface. */
export type Base = 'main' | 'serverless';

/** `interface`: stated by the interface. `public dialect`: documented by the public service only. */
export type Origin = 'interface' | 'public dialect';

/** One row of the verification matrix, §5.7. A Bearer key is accepted everywhere. */
export interface Verification {
  /** A `secret` in the body is accepted in place of a key (the logged-out path). */
  readonly secretAlone: boolean;
  /** When the body must carry `secret` besides the key. */
  readonly secret: 'never' | 'without bearer' | 'for sms and email' | 'always';
}

const BEARER_ONLY: Verification = { secretAlone: false, secret: 'never' };

/** What most operations have in common; a row says what differs: nothing is repeated that does not say so. */
export const INTERFACE = {
  base: 'main',
  origin: 'interface',
  verification: BEARER_ONLY,
  errors: [],
  repeatable: false,
} as const;
export const PUBLIC_DIALECT = { ...INTERFACE, origin: 'public dialect', source: 'public dialect' } as const;
/** Of what costs or saves money; a repetition changes no more. */
export const PUBLIC_WRITE = { ...PUBLIC_DIALECT, permission: 'instance_write', repeatable: true } as const;
/** Asking changes nothing. */
export const PUBLIC_READ = { ...PUBLIC_DIALECT, method: 'GET', repeatable: true } as const;

export interface Example {
  /** Path parameters, query and body fields in one flat object, as the client's methods take them. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly response: unknown;
}

/** A refusal that means something else than no, in the words of the public service. */
export interface OtherWords {
  readonly says: RegExp;
  /** That what was asked for does not exist; or what a caller gets in place of the refusal. */
  readonly means: 'not-found' | ((body: Readonly<Record<string, unknown>>) => unknown);
}

/** A rule between the fields of a request; rules.ts has them. */
export interface Rule {
  /** The field that a broken rule names; dots lead into an object. */
  readonly field: string;
  /** A sentence without its subject, the field: `needed without backup_code`. */
  readonly says: string;
  /** How the service refuses a request that breaks it. */
  readonly error: ErrorCode;
  /** Must stand fields of any type. */
  readonly isBroken: (fields: Readonly<Record<string, unknown>>) => boolean;
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path with `{name}` placeholders, each named in `params`. Servers accept it with and without the slash at its end. */
  readonly path: `/${string}`;
  readonly base: Base;
  readonly origin: Origin;
  /** Section of the interface, e.g. `§4.6`. */
  readonly source: string;
  readonly summary: string;
  readonly description?: string;
  readonly verification: Verification;
  /** Body field that repeats the API key, where the service asks for it there too. */
  readonly keyInBody?: string;
  /** Permission a scoped key needs; whether the interface says so, assumptions.ts knows. */
  readonly permission?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Rules between fields. */
  readonly rules?: readonly Rule[];
  readonly response: z.ZodType;
  readonly otherWords?: readonly OtherWords[];
  /** The field of an answer that is null if there is nothing of this id. */
  readonly nullIfNone?: string;
  /** Errors that the interface states for this operation, beside those that any operation may answer. */
  readonly errors: readonly ErrorCode[];
  /** Sending it twice does no more than sending it once, so a failed exchange may be repeated. */
  readonly repeatable: boolean;
  /**
   * Least time between two calls with one key, in ms; absent if it is not known. It is the public dialect's (evidence 1.7,
   * confidence A: the service's own generated OpenAPI). It was never measured, and the interface states none.
   */
  readonly publicSpacingMs?: number;
  /** Id of the operation to use instead. */
  readonly replacedBy?: string;
  readonly example: Example;
}

/** Operation id (`resource.method`) → operation. */
export type OperationTable = Readonly<Record<`${string}.${string}`, Operation>>;
