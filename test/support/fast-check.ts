/**
 * fast-check with one seed for all properties if PROPERTY_SEED is set, as in the gate. PROPERTY_RUNS is the
 * most runs of each (mutation); PROPERTY_TIMES multiplies them (`npm run test:long -- test/unit`).
 */
import * as fc from 'fast-check';

const { PROPERTY_RUNS, PROPERTY_SEED, PROPERTY_TIMES } = process.env;
if (PROPERTY_SEED !== undefined)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED) });

export * from 'fast-check';

export function assert<Values>(
  property: fc.IAsyncProperty<Values>,
  parameters?: fc.Parameters<Values>,
): Promise<void>;
export function assert<Values>(property: fc.IProperty<Values>, parameters?: fc.Parameters<Values>): void;
export function assert<Values>(
  property: fc.IRawProperty<Values>,
  parameters: fc.Parameters<Values> = {},
): void | Promise<void> {
  const numRuns = Math.min(
    (parameters.numRuns ?? 20) * Number(PROPERTY_TIMES ?? 1),
    Number(PROPERTY_RUNS ?? Infinity),
  );
  return fc.assert(property as fc.IProperty<Values>, { ...parameters, numRuns });
}

type ValueOf<Source> = Source extends fc.Arbitrary<infer Value> ? Value : never;

/** One of several, each as often as its number says. */
export function weighted<Sources extends readonly fc.Arbitrary<unknown>[]>(
  ...choices: { readonly [Index in keyof Sources]: readonly [weight: number, arbitrary: Sources[Index]] }
): fc.Arbitrary<ValueOf<Sources[number]>> {
  const named = choices.map(([weight, arbitrary]) => ({ weight, arbitrary }));
  return fc.oneof(...named) as fc.Arbitrary<ValueOf<Sources[number]>>;
}

/** A record with its kind, as one of several kinds has it. */
export function tagged<const Kind extends string, Fields extends object>(
  kind: Kind,
  fields: { readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
): fc.Arbitrary<{ readonly kind: Kind } & Fields> {
  const record = fc.record(fields) as fc.Arbitrary<Fields>;
  return record.map((made) => Object.assign(made, { kind }));
}
