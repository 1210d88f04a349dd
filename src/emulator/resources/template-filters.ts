/**
 * `select_filters` (§4.2) over a template or another row, pure. All operators of all fields must hold. A field without a value
 * (`recent_create_date` before the first instance) equals nothing: `neq` and `notin` hold for it, the six
 * others do not. Texts are ordered by their UTF-16 code units, false before true.
 */
import type { FilterOperator } from '../../contract/schemas.ts';

type Scalar = string | number | boolean;

const COMPARISONS: Readonly<Record<FilterOperator, (actual: Scalar, wanted: never) => boolean>> = {
  eq: (actual, wanted: Scalar) => actual === wanted,
  neq: (actual, wanted: Scalar) => actual !== wanted,
  lt: (actual, wanted: Scalar) => actual < wanted,
  lte: (actual, wanted: Scalar) => actual <= wanted,
  gt: (actual, wanted: Scalar) => actual > wanted,
  gte: (actual, wanted: Scalar) => actual >= wanted,
  in: (actual, wanted: readonly Scalar[]) => wanted.includes(actual),
  notin: (actual, wanted: readonly Scalar[]) => !wanted.includes(actual),
};

/** `{<field>: {<operator>: <value>}}` */
type Filters = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

export function matchesFilters(row: Readonly<Record<string, unknown>>, filters: Filters): boolean {
  return Object.entries(filters).every(([field, filter]) =>
    Object.entries(filter ?? {}).every(([operator, wanted]) =>
      holds(row[field] as Scalar | null | undefined, operator as FilterOperator, wanted as never),
    ),
  );
}

function holds(actual: Scalar | null | undefined, operator: FilterOperator, wanted: never): boolean {
  if (actual === null || actual === undefined) return operator === 'neq' || operator === 'notin';
  return COMPARISONS[operator](actual, wanted);
}
