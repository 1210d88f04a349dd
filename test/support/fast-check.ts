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
    (parameters.numRuns ?? 100) * Number(PROPERTY_TIMES ?? 1),
    Number(PROPERTY_RUNS ?? Infinity),
  );
  return fc.assert(property as fc.IProperty<Values>, { ...parameters, numRuns });
}
