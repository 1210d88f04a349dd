import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../support/daemon.ts';
import { listenWithFleet } from '../support/fleet-listener.ts';
import { root } from '../support/optional.ts';
import { describeWithPrometheus, startPrometheus } from '../support/prometheus.ts';
import {
  endpointView,
  fleetView,
  IN_FLIGHT,
  recordedFleet,
  sampleAt,
  SPENT,
} from '../support/recorded-fleet.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(`${root}deploy/grafana/dashboards/pilotlight.json`, 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

describeWithPrometheus('the Grafana dashboard', () => {
  test('every query of every panel has data in a Prometheus that scraped a daemon', async () => {
    await using emulator = await startEmulator();
    await using daemon = await startTestDaemon({
      ...serviceOf(emulator),
      DEPLOYMENTS: '42@20s,43',
      WORKER_GROUPS: '7,8',
      MACHINES: '11,12',
      ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97}]',
    });
    await until(async () => daemon.daemon.status().account !== null && daemon.lines(7).length > 0);
    await using fleet = await listenWithFleet(
      recordedFleet(() => {
        const sample = sampleAt(Date.now(), { load: null, load_average: null, load_in_flight: 90 });
        const inFlight = { endpoint: 'code', id: 32, sample, load: IN_FLIGHT };
        return fleetView([endpointView({ stuckWorkers: 1 }), endpointView(inFlight)], { spend: SPENT });
      }),
      { endpoints: [{ by: 'all' as const }], fleetInterval: 15_000, budgetPerHour: 3, budgetPerMonth: 2000 },
    );
    // Each scrape has one more.
    const starts = setInterval(() => {
      for (const from of ['new', 'cold'] as const)
        fleet.observe({ kind: 'worker started', endpoint: 'chat', from, seconds: 90 });
    }, 500);
    using _ = { [Symbol.dispose]: () => clearInterval(starts) };
    await using prometheus = await startPrometheus([daemon.url, fleet.url], 'pilotlight.rules.yml');
    // What Grafana fills in; it is never shorter than four scrapes.
    const ask = (expression: string) => prometheus.ask(expression.replaceAll('$__rate_interval', '1m'));
    const numbers = async (expression: string): Promise<number[]> => {
      const { status, error, data } = await ask(expression);
      expect([expression, status, error]).toEqual([expression, 'success', undefined]);
      return (data?.result ?? []).map(({ value }) => Number(value[1]));
    };
    const withoutData = async (): Promise<string[]> => {
      const missing: string[] = [];
      for (const { title, targets = [] } of panels) {
        for (const { expr } of targets) {
          const found = await numbers(expr);
          if (!found.some((value) => Number.isFinite(value))) missing.push(`${title}: ${expr}`);
        }
      }
      return missing;
    };
    // A rate needs two scrapes.
    await expect.poll(withoutData, { interval: 1_000 }).toEqual([]);
    for (const { expr } of dashboard.annotations.list) expect((await ask(expr)).status).toBe('success');
  });
});

test('panels have distinct numbers and titles, a description each, and do not overlap', () => {
  expect(panels.length).toBeGreaterThan(20);
  for (const key of ['id', 'title'] as const)
    expect(new Set(dashboard.panels.map((panel) => panel[key])).size).toBe(dashboard.panels.length);
  expect(panels.filter(({ description }) => !description)).toEqual([]);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});
