import { describe, expect, test } from 'vitest';
import { planTable } from '../../../../src/cli/plan/table.ts';
import { progressBar } from '../../../../src/cli/console.ts';
import { listenWithFleet } from '../../../support/fleet-listener.ts';
import { planCommandLine } from '../../../support/plan-command.ts';
import { endpointView, fleetView, minuteRow, recordedFleet } from '../../../support/recorded-fleet.ts';

const LOAD = ['--load', 'poisson', '--rate', '50', '--duration', '20m', '--performance', '10'];

describe('pilotlight plan', () => {
  test('a made-up load is planned for with several seeds, and two figures have their intervals', async () => {
    const outcome = await planCommandLine(...LOAD, '--seeds', '4');
    const { costPerHour, p99Seconds, seeds } = outcome.plans[0]!.estimates!;
    expect([seeds, outcome.load.work]).toEqual([4, 'exponentially distributed']);
    expect(costPerHour.low).toBeGreaterThan(outcome.plans[0]!.cost.perHour / 2);
    for (const { mean, low, high } of [costPerHour, p99Seconds]) {
      expect(low).toBeLessThan(mean);
      expect(mean).toBeLessThan(high);
    }
    expect(planTable(outcome).join('\n')).toMatch(/^cost an hour, mean of 4 loads +\S+ \(\S+ to \S+\)$/m);
    const single = await planCommandLine(...LOAD, '--seeds', '1');
    expect(single.plans[0]).toEqual({ ...outcome.plans[0], estimates: undefined });
  });

  test('says which assumption it hangs on most, each halved and doubled', async () => {
    const outcome = await planCommandLine(...LOAD, '--param', 'max_workers=20');
    const [most] = outcome.sensitivity;
    expect(most?.setting).toBe('performance');
    const halved = await planCommandLine(...LOAD.slice(0, -1), '5', '--param', 'max_workers=20');
    const { cost, queueTime } = halved.plans[0]!;
    expect(most?.half).toEqual({ costPerHour: cost.perHour, p99Seconds: queueTime.p99 });
    expect(planTable(outcome).join('\n')).toMatch(/^The result depends most on --performance /m);
    expect((await planCommandLine(...LOAD, '--no-sensitivity')).sensitivity).toEqual([]);
  });

  test('machines that never stop stand beside the set: no starts, and paid for all the time', async () => {
    const outcome = await planCommandLine(...LOAD, '--always-on', '7', '--price-hot', '2');
    const [set, always] = outcome.plans;
    expect(always).toMatchObject({ label: '7 always on', findings: [], requests: set?.requests });
    const text = planTable(outcome).join('\n');
    expect(text).toMatch(/\nhot workers, mean and most +\S+, \d+ +7, 7\n/);
    expect(text).toMatch(/\nstarts from nothing +\d+ +0\n/);
    expect(always?.cost.perHour).toBeCloseTo(14, 1);
    const both = planCommandLine(...LOAD, '--always-on', '3', '--search');
    await expect(both).rejects.toThrow('cannot be used with');
  });

  test.each([
    [[], 'which load?'],
    [['--load', 'poisson'], 'how much load?'],
    [['--load', 'poisson', '--rate', '1', '--trace', 'x.csv'], 'two loads, and one is planned for'],
    [
      ['--trace', 'x.csv', '--burst-every', '5m', '--seeds', '3'],
      '--seeds: only of --load poisson, --load diurnal, --load bursts\nerror: --burst-every: only of --load bursts',
    ],
    [[...LOAD, '--param', 'target_util=90'], 'for 90 percent write 0.9'],
    [[...LOAD, '--param', 'max_workers=many'], 'got "many"; allowed: an integer of at least 1'],
    [[...LOAD, '--params', '/nowhere.json'], '/nowhere.json: ENOENT'],
    [[...LOAD, '--slots', '0'], '--slots: got 0; allowed: a number above 0'],
    [[...LOAD, '--performance', '80..120..200'], 'one number, or two such as 80..120'],
    [[...LOAD, '--weight', 'work=2'], '--weight: only of --trace'],
    [[...LOAD, '--peak-ratio', '2'], '--peak-ratio: only of --load diurnal'],
    [[...LOAD, '--peak-ratio', '0.5'], "'0.5' is invalid. a number of at least 1"],
    [[...LOAD, '--period', '0s'], "'0s' is invalid. a duration above 0"],
    [[...LOAD, '--param', 'overrecruit_ratio=0'], 'overrecruit_ratio: got 0; allowed: a number above 0'],
    [[...LOAD, '--performance', '120..80'], 'two such as 80..120, the smaller first'],
    [[...LOAD, '--start-time', '5'], 'a duration is 500ms, 20s, 5m or 1h'],
  ])('says what is wrong with %j', async (flags, message) => {
    await expect(planCommandLine(...flags)).rejects.toThrow(message);
  });

  test('a search names the cheapest set tried that keeps the limit, and plans for it', async () => {
    const words = '--seeds 1 --search --p99 5s --param max_workers=12'.split(' ');
    const { search, plans } = await planCommandLine(...LOAD, ...words);
    const good = search!.tried.filter(({ p99Seconds }) => p99Seconds <= 5);
    expect(search!.best?.cost).toBe(Math.min(...good.map(({ cost }) => cost)));
    expect(plans[0]).toMatchObject({ label: 'best', cost: { total: search!.best!.cost } });
    expect(plans[0]?.queueTime.p99).toBeLessThanOrEqual(5);
  });
});

test.each([60, undefined])(
  'the progress bar never wraps on a terminal, and elsewhere is silent: %j columns',
  (errColumns) => {
    const written: string[] = [];
    let now = 0;
    const bar = progressBar({ err: (text) => written.push(text), errColumns }, () => (now += 50));
    for (let done = 1; done <= 100; done += 1)
      bar.update(done / 100, `${done} sets tried`, 'a note '.repeat(9));
    bar.end();
    if (errColumns === undefined) return expect(written).toEqual([]);
    const drawn = '\r\u001B[K█████████░░░░░░░░░░░  45%  about 3 s left  45 sets tried, a';
    expect([written.length, written[22], written.at(-1)]).toEqual([52, drawn, '\r\u001B[K']);
    for (const text of written) expect(text.length).toBeLessThanOrEqual(59 + 4);
  },
);

test('an endpoint is planned for as a daemon knows it; a flag goes before what was measured', async () => {
  const measured = { performances: [90, 110, 0], startSeconds: { new: [200, 400, 300], cold: [] } };
  const parameters = { max_workers: 7, cold_workers: 2, target_util: 0.8 };
  const priced = (minute: number, idle: number, stopped: number) =>
    minuteRow(
      Date.now() - 600_000 + minute * 60_000,
      { spend_per_hour: 2 * idle + 0.1 * stopped },
      { idle, stopped },
    );
  const view = () => fleetView([endpointView({ measured, parameters })]);
  await using listener = await listenWithFleet(
    recordedFleet(view, { chat: [priced(0, 1, 3), priced(1, 3, 1), priced(2, 2, 2)] }),
  );
  const load = ['--load', 'poisson', '--rate', '50', '--duration', '20m', '--url', listener.url];
  const report = await planCommandLine(...load, '--endpoint', 'chat', '--cold-start', '20s');
  expect(report.plans[0]).toMatchObject({
    label: 'chat',
    parameters,
    settings: { performance: { least: 90, most: 110 }, startSeconds: 300, coldStartSeconds: 20 },
  });
  const { priceHot, priceCold } = report.plans[0]!.settings;
  expect([priceHot, priceCold]).toEqual([expect.closeTo(2, 6), expect.closeTo(0.1, 6)]);
  const text = planTable(report).join('\n');
  expect(text).toContain(
    'Given: --cold-start 20s\nMeasured by the daemon: --performance 90..110  --start-time 300s',
  );
  await expect(planCommandLine(...load, '--endpoint', 'char')).rejects.toThrow(
    'no endpoint char; there is: chat',
  );
});
