/**
 * Real logs and traces that lie beside the repository, and are not copied into it. Nobody need have them: a suite that
 * replays them is skipped without, by the gate too, which counts it.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'vitest';

export const realData = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const hasRealData = existsSync(realData);
if (!hasRealData) process.stderr.write(`skipping tests that replay real logs and traces: no ${realData}\n`);

/** `describe`; without the data one skipped test stands for the suite, under a name that .ci/run knows. */
export function describeWithRealData(name: string, body: () => void): void {
  if (hasRealData) describe(name, body);
  else describe(name, () => test.skip('needs ../shared/data'));
}
