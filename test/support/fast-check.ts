/**
 * fast-check, with one seed for all properties where PROPERTY_SEED names it, as the gate does: a commit that passed it once
 * passes again. Without it each run has seeds of its own, and a property that fails prints them. PROPERTY_RUNS is the most
 * that any runs, where each is run once for each of hundreds of mutants; PROPERTY_TIMES is how many times as often each
 * runs (`npm run test:long -- test/unit`).
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
