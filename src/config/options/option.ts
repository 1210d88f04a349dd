/** What an environment variable of this program is: a row of the tables in heart-options.ts and daemon-options.ts. */
import type { ValueType } from '../types/value-types.ts';

export const PREFIX = 'PILOTLIGHT_';

export interface Option<T = unknown> {
  /** Without the prefix. */
  readonly variable: string;
  readonly type: ValueType<T>;
  /** As a user would write it; undefined: no default. */
  readonly fallback: string | undefined;
  readonly required?: true;
  /** Never shown anywhere. */
  readonly secret?: true;
  /** How a value is shown that may hold credentials. */
  readonly shown?: (value: string) => string;
  /** Cannot be given as NAME_FILE. */
  readonly noFile?: true;
  /** A reload cannot change it; the process must restart. */
  readonly restart?: true;
  readonly doc: string;
}

type ValueOf<O> = O extends { readonly type: ValueType<infer T> } ? T : never;
/** Options that are required or have a default always have a value. */
type Present<O> = O extends { readonly required: true }
  ? ValueOf<O>
  : O extends { readonly fallback: string }
    ? ValueOf<O>
    : ValueOf<O> | undefined;

/** The values of a table of options. */
export type ValuesOf<Table> = { readonly [K in keyof Table]: Present<Table[K]> };
