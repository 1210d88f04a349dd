/** Of what a test makes up without fast-check: PROPERTY_SEED in the environment repeats a run, as in fast-check.ts. */
import { onTestFailed } from 'vitest';

const seed = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 2 ** 31);

/** Printed when the test that asks for it fails. */
export function printedSeed(): number {
  onTestFailed(() => console.log(`PROPERTY_SEED=${seed} makes up the same`));
  return seed;
}
