/** A process is killed at any statement of its database: a real process, a real file, a real SIGKILL. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fc from '../../../support/fast-check.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { childBundle } from '../../../support/child-bundle.ts';
import { Keeper } from '../../../support/kept-history.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const CHILD = new URL('../../../support/fleet-crash-child.ts', import.meta.url);
let program: ReturnType<typeof childBundle>;
beforeAll(() => void (program = childBundle(CHILD)));
afterAll(() => program[Symbol.dispose]());
/** Somewhat more than an hour of them. */
const SAMPLES = 250;

/** Lives until it dies, or has done everything: the samples that it said it had recorded. */
async function live(directory: string, statement: number, when: string, beginMs: number) {
  const args = [program.path, directory, String(statement), when, String(SAMPLES), String(beginMs)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, recorded: output.split('\n').slice(0, -1).map(Number) };
}

async function stored(directory: string) {
  await using keeper = new Keeper(directory);
  const kept = await keeper.history.open();
  expect([keeper.troubles, keeper.aside]).toEqual([[], []]);
  return {
    loads: await keeper.loads(),
    perfs: Array.from(kept?.lives ?? [], ({ perf }) => perf ?? -1),
    starts: kept?.starts.get('chat')?.cold ?? [],
  };
}

test('what is stored is whole at every instant, and no recorded sample but the last is lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 700 }), fc.constantFrom('before', 'after')), {
        minLength: 1,
        maxLength: 3,
      }),
      async (deaths) => {
        using folder = temporaryFolder();
        const beginMs = Date.now() - 3 * 3_600_000;
        let known = -1;
        for (const [statement, when] of [...deaths, [0, 'never'] as const]) {
          const { code, recorded } = await live(folder.path, statement, when, beginMs);
          expect(code).toBe(statement === 0 ? 0 : code);
          expect(code).not.toBe(3);
          // It goes on where the one before ended.
          if (recorded.length > 0) expect(recorded[0]).toBeLessThanOrEqual(known + 2);
          known = Math.max(known, recorded.at(-1) ?? known);
          const { loads, perfs, starts } = await stored(folder.path);
          expect(loads.length).toBeGreaterThanOrEqual(known + 1);
          expect(loads).toEqual(loads.map((_, index) => index));
          // Workers and starts are of these very samples, and of no other.
          const last = loads.length - 1;
          expect(perfs.toSorted((a, b) => a - b)).toEqual(
            [4, 3, 2, 1, 0].map((back) => last - back).filter((index) => index >= 0),
          );
          expect(starts).toEqual(last < 0 ? [] : [last]);
        }
        expect(known).toBe(SAMPLES - 1);
      },
    ),
    { numRuns: 2 },
  );
});
