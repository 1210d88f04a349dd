/** The program beside a service that lies in every answer but those to one heartbeat: it stays, and so does the deployment. */
import * as fc from '../../support/fast-check.ts';
import { expect, test } from 'vitest';
import type { OperationId } from '../../../src/contract/operations.ts';
import { statusSchema } from '../../../src/daemon/status/schema.ts';
import { matchOperation } from '../../../src/wire/match.ts';
import { casesOf, PATIENCE, withoutHangOf } from '../../support/bad-input/cases.ts';
import { honestAnswer, liesTo, startLyingService, type Lie } from '../../support/bad-input/lies.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** No lie is of this deployment. */
const KEPT = 77;
const LABEL = `{deployment_id="${KEPT}"}`;

const ids = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index);

/** A new one for each question, by the operation that it is about. */
function liar(seed: number): (id: OperationId) => Lie {
  const made = new Map<OperationId, Lie[]>();
  let turns = 0;
  return (id) => {
    const left = made.get(id) ?? [];
    if (left.length === 0) left.push(...fc.sample(liesTo(id), { numRuns: 50, seed: seed + (turns += 1) }));
    made.set(id, left);
    return left.pop() ?? honestAnswer(id);
  };
}

/** All that it shows, while it may be busy with an answer. */
async function look({ url }: DaemonProcess): Promise<void> {
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  const status: unknown = await (await fetch(`${url}/api/status`)).json();
  expect(statusSchema.safeParse(status).error).toBeUndefined();
  const fleet = await fetch(`${url}/api/fleet`);
  expect(fleet.status).toBe(200);
  await fleet.json();
}

function metric(text: string, name: string): number {
  const [, value = 'none'] = new RegExp(`^${name} (.+)$`, 'm').exec(text) ?? [];
  return Number(value);
}

test('heart and daemon go on', { timeout: PATIENCE }, async () => {
  using folder = temporaryFolder();
  const { numRuns, seed } = casesOf(20);
  const lieTo = liar(seed);
  let told = 0;
  await using service = await startLyingService((method, target) => {
    const path = target.split('?')[0] ?? '';
    const found = matchOperation(method, path);
    if (!found) return { bytes: Buffer.from('HTTP/1.1 404 x\r\ncontent-length: 0\r\n\r\n') };
    if (found.value === 'deployments.heartbeat' && found.params['id'] === String(KEPT))
      return honestAnswer(found.value, { success: true, deployment_id: KEPT });
    told += 1;
    return lieTo(found.value);
  });
  await using daemon = await startDaemonProcess({
    API_KEY: 'sk-lied-to-0123456789',
    BASE_URL: service.url,
    DEPLOYMENTS: `${KEPT}@60s,${ids(2, 30).join('@5s,')}@5s,name:square,name:square/blue`,
    WORKER_GROUPS: [...ids(7, 20), 'all', 'endpoint:chat'].join(),
    ENDPOINTS: 'all,31,32,33',
    FLEET_INTERVAL: '5s',
    ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.9}]',
    MACHINES: '11,12',
    INSTANCES_SCHEDULE: '* * * * * *',
    MAINTENANCE_SCHEDULE: '* * * * * *',
    ACCOUNT_SCHEDULE: '* * * * * *',
    PUBLIC_STATUS: 'true',
    STATE_DIR: folder.path,
  });
  const pid = daemon.daemonPid();
  await until(async () => {
    // Dozens of answers come while it is asked the first time.
    await withoutHangOf(
      pid,
      () => look(daemon),
      () => told,
    );
    return told >= numRuns;
  }, PATIENCE);
  expect(daemon.daemonPid()).toBe(pid);
  const read = async () => (await fetch(`${daemon.url}/metrics`)).text();
  await until(
    async () =>
      metric(await read(), `pilotlight_deployment_last_heartbeat_success_timestamp_seconds${LABEL}`) > 0,
  );
  const metrics = await read();
  expect(metric(metrics, 'pilotlight_daemon_restarts_total')).toBe(0);
  expect(metric(metrics, `pilotlight_deployment_lapses_total${LABEL}`)).toBe(0);
  for (const text of [daemon.stderr(), daemon.stdout()])
    for (const line of text.split('\n').slice(0, -1)) expect(() => void JSON.parse(line), line).not.toThrow();
  expect(daemon.stderr()).not.toContain('please report');
});
