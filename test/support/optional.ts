/**
 * Tests with a real part that the machine may lack (a container engine, promtool, a browser) skip with one
 * line that says what to install; with REQUIRE_ALL set, as in .ci/run, a missing part fails instead.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';

const required = process.env['REQUIRE_ALL'] === '1';

/** `describe`, if the part is there. */
export function describeWith(part: string, present: boolean, install: string) {
  if (present) return describe;
  if (required) {
    return (name: string, _body: () => void): void => {
      describe(name, (): void => {
        throw new Error(`${part} is required here and missing: ${install}`);
      });
    };
  }
  process.stderr.write(`skipping tests that need ${part}: ${install}\n`);
  return describe.skip;
}

export function hasCommand(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

export const root = fileURLToPath(new URL('../..', import.meta.url));
