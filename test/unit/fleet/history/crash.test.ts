/** A process is killed at any statement of its database: a real process, a real file, a real SIGKILL. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fc from '../../../support/fast-check.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { folded, stretchOf } from '../../../../src/fleet/history/fold.ts';
import { SqliteHistory } from '../../../../src/fleet/history/places/sqlite-history.ts';
import { childBundle } from '../../../support/child-bundle.ts';
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
  const file = new SqliteHistory({
    directory,
    now: () => 0,
    onSetAside: () => expect.unreachable(),
    onHole: () => expect.unreachable(),
  });
  const state = await file.open();
  const [samples, minutes, hours] = [
    await file.read('chat', 'sample', 0, Infinity),
    await file.read('chat', 'minute', 0, Infinity),
    await file.read('chat', 'hour', 0, Infinity),
  ];
  file.close();
  return { state, samples, minutes, hours };
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
        // Once for all of them: an hour may end in between.
        const beginMs = stretchOf(Date.now(), 3_600_000) - 3 * 3_600_000;
        let known = -1;
        for (const [statement, when] of [...deaths, [0, 'never'] as const]) {
          const { code, recorded } = await live(folder.path, statement, when, beginMs);
          expect(code).toBe(statement === 0 ? 0 : code);
          expect(code).not.toBe(3);
          // It goes on where the one before ended.
          if (recorded.length > 0) expect(recorded[0]).toBeLessThanOrEqual(known + 2);
          known = Math.max(known, recorded.at(-1) ?? known);
          const { state, samples, minutes, hours } = await stored(folder.path);
          expect(samples.length).toBeGreaterThanOrEqual(known + 1);
          expect(samples.map(({ measures }) => measures.load.sum)).toEqual(
            samples.map((_, index) => index * 1_000),
          );
          // Minutes, hours and workers are of these very samples, and of no other.
          const open = state.endpoints.flatMap((one) => one.open);
          const with_ = (lengthMs: number) => open.filter((row) => row.lengthMs === lengthMs);
          expect([...minutes, ...with_(60_000)]).toEqual(folded(samples, 60_000));
          expect([...hours, ...with_(3_600_000)]).toEqual(folded(samples, 3_600_000));
          const perfs = state.lives.map(({ perf }) => perf ?? -1).sort((a, b) => a - b);
          const last = samples.length - 1;
          expect(perfs).toEqual([4, 3, 2, 1, 0].map((back) => last - back).filter((index) => index >= 0));
          expect(state.starts.map(({ seconds }) => seconds)).toEqual(samples.map((_, index) => index));
        }
        expect(known).toBe(SAMPLES - 1);
      },
    ),
    { numRuns: 4 },
  );
}, 120_000);
