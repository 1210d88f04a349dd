/** Beside a follower and watches that run for a day of the service's time, nothing false is ever learned. */
import { describe, expect, test } from 'vitest';
import { examine } from '../../../src/cli/doctor.ts';
import { knownFindings, learn, NOTHING_LEARNED, withNews } from '../../../src/doctor/learn.ts';
import { EMPTY_STATUS } from '../../support/empty-status.ts';
import { isLong } from '../../support/long.ts';
import { followEmulator, GROUP } from '../../support/followed-emulator.ts';
import { prefixed, settingsOf } from '../../support/settings.ts';

const HOUR_MS = 3_600_000;
/** A day in a long run. */
const HOURS = isLong ? 24 : 1;
const STEP_MS = 10_000;

const WORLDS = [
  { tail_unit: 'bytes', log_shape: 'levels', log_file_bytes: 16_384, instances_v0: '410' },
  { tail_unit: 'lines', log_shape: 'text', log_file_bytes: 16_384, instances_v0: 'answers' },
  { tail_unit: 'lines', log_shape: 'levels', log_file_bytes: 'unlimited', instances_v0: '410' },
  { tail_unit: 'bytes', log_shape: 'text', log_file_bytes: 'unlimited', instances_v0: 'answers' },
] as const;

// The others have each value of each trait as well.
describe.each(isLong ? WORLDS : WORLDS.toSpliced(2, 1))(
  'tail in $tail_unit, a log in $log_shape, files of $log_file_bytes bytes',
  (traits) => {
    test(`hours: ${HOURS}`, async () => {
      let knowledge = NOTHING_LEARNED;
      const seen = new Map<string, Set<string>>();
      function note(next: typeof knowledge): void {
        if (next.traits !== knowledge.traits)
          for (const [id, value] of Object.entries(next.traits))
            seen.set(id, (seen.get(id) ?? new Set()).add(value));
        knowledge = next;
      }
      await using followed = await followEmulator([], {
        dialect: 'public',
        traits,
        seed: {
          workergroups: [{ id: GROUP, endpoint_id: 31, lines_per_second: 0.1 }],
          deployments: [{ id: 42, ttl: 1e6 }],
        },
        onAnswer: (event) => note(learn(knowledge, event)),
        onReset: () =>
          note({ ...knowledge, traits: withNews(knowledge.traits, { log_file_bytes: 'begins_anew' }) }),
      });
      const { emulator, client, advance } = followed;
      const service = { BASE_URL: emulator.url, API_KEY: emulator.apiKey };
      for (let hour = 0; hour < HOURS; hour += 1) {
        await advance(HOUR_MS, STEP_MS);
        await client.deployments.list({});
        await client.instances.page({});
        await client.deployments.heartbeat({ id: 42 });
      }
      const { lines } = await examine({
        settings: settingsOf(prefixed({ ...service, DEPLOYMENTS: '42', WORKER_GROUPS: 'all' })),
        daemon: {
          ...EMPTY_STATUS,
          service: { ...EMPTY_STATUS.service, traits: knownFindings(knowledge.traits) },
        },
        deployment: undefined,
        signal: new AbortController().signal,
        sleep: (ms) => advance(ms, ms),
        announce: () => {},
      });
      const truth = {
        rate_limit: 'unseen',
        instances_v0: traits.instances_v0,
        instances_v1: 'answers',
        deployments_list: 'answers',
        deployment_ttl: 'seconds',
        tail_unit: traits.tail_unit,
        log_shape: traits.log_shape,
        ...(traits.log_file_bytes !== 'unlimited' && { log_file_bytes: 'begins_anew' }),
        tfa_key: 'taken',
      };
      const found = lines.flatMap(({ about, value }) =>
        value === undefined ? [] : [[about, value] as const],
      );
      expect(Object.fromEntries(found)).toEqual(truth);
      // Not for a moment either.
      for (const [id, values] of seen)
        expect([id, [...values]]).toEqual([id, [truth[id as keyof typeof truth]]]);
    });
  },
);
