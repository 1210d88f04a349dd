import { expect, it } from 'vitest';
import type { BrokenEngine } from './broken-engines.ts';
import type { BrokenPacer } from './broken-pacers.ts';
import { FirstPacer } from './first-pacer.ts';
import { search, type ScenarioName } from './prove.ts';
import { replay } from './recorded.ts';
import { RECORDED_UNDER_LIMIT } from './recorded-limits.ts';
import { RECORDED } from './recorded-schedules.ts';

/** Chaos needs 28 for one of them, and the others six at most: each scenario has more in any run. */
const MOST_SEEDS = 30;

/** Which scenario is there to notice which mistake. */
const NOTICED_BY = {
  'no timeout': 'windows',
  'basis at receipt': 'chaos',
  'wall clock only': 'chaos',
  'monotonic clock only': 'resume',
  'retry budget': 'windows',
  'first failure is the last': 'windows',
  'reused socket': 'windows',
  '404 is final at first sight': 'windows',
  'gone is for ever': 'mistakes',
  'backoff without a cap': 'windows',
  'interval jittered to later': 'outages',
  'retries at once': 'chaos',
  'wait not cut short': 'outages',
  'key read once': 'rotation',
  'any answer is success': 'outages',
  'slow attempts given up at A': 'slowness',
  'nothing is aborted': 'windows',
  'no attempt gives way': 'connections',
  'waits of T/8 after 429': 'windows',
  'released ones are beaten': 'needed',
  'released for ever': 'needed',
  'lit again at its interval': 'needed',
} as const satisfies Record<BrokenEngine, ScenarioName>;

it.each(Object.entries(NOTICED_BY) as [BrokenEngine, ScenarioName][])(
  'an engine with the mistake "%s" is noticed by the scenario %s',
  async (engine, scenario) => {
    const { runs, violations, examples } = await search(scenario, { runs: MOST_SEEDS, engine, enough: 1 });
    console.log(`${engine}: noticed by ${scenario} with seed ${runs}: ${examples[0]}`);
    expect(violations).toBe(1);
  },
);

const PACERS_NOTICED_BY = {
  'a suspicion rules': 'chaos',
  'contradictions are ignored': 'chaos',
  'every failure is a limit': 'chaos',
  'there is no pacer': 'limiter',
  'no margin for the network': 'limiter',
} as const satisfies Record<BrokenPacer, ScenarioName>;

it.each(Object.entries(PACERS_NOTICED_BY) as [BrokenPacer, ScenarioName][])(
  'a pacer with the mistake "%s" is noticed by the scenario %s',
  async (pacer, scenario) => {
    const { runs, violations, examples } = await search(scenario, { runs: MOST_SEEDS, pacer, enough: 1 });
    console.log(`${pacer}: noticed by ${scenario} with seed ${runs}: ${examples[0]}`);
    expect(violations).toBe(1);
  },
);

it.each(Object.entries(RECORDED))(
  'the recorded schedule of %s is survived, and not with the pacer that lost it',
  async (_name, schedule) => {
    expect((await replay(schedule)).violations).toEqual([]);
    const { violations } = await replay(schedule, { makePacer: () => new FirstPacer() });
    expect(violations.join()).toMatch(/expired/);
  },
);

it.each(Object.entries(RECORDED_UNDER_LIMIT))(
  'the recorded schedule of %s is survived',
  async (_name, schedule) => {
    expect((await replay(schedule)).violations).toEqual([]);
  },
);
