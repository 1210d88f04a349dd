/** What keys may do, and answers that depend on what came before. */
import { expect, test } from 'vitest';
import { publicDialect, specDialect } from '../../../../src/emulator/dialect.ts';
import { DEFAULT_SEED } from '../../../../src/emulator/seed/seed.ts';
import { createLab } from '../../../support/two-factor.ts';

function labOf(dialect = publicDialect) {
  const lab = createLab({}, dialect, DEFAULT_SEED);
  return {
    ...lab,
    sent: (method: string, path: string, body: unknown, key = 'emulator-key') => {
      const answer = lab.send(method, path, JSON.stringify(body), key);
      return { ...answer, reason: answer.headers['x-emulator-reason'] };
    },
  };
}

const BEAT = '/api/v0/deployment/42/heartbeat';

test('a scoped key can do what its permissions say', () => {
  const { sent, apiKeys } = labOf(specDialect);
  const status = (permissions: Record<string, unknown>) => {
    const name = JSON.stringify(permissions);
    apiKeys.add({ name, key: name.replaceAll(' ', ''), permissions });
    return sent('POST', BEAT, {}, name).status;
  };
  const granted = [{ manage_instances: true }, { instance_write: true }, { api: { instance_write: {} } }];
  expect(granted.map(status)).toEqual([200, 200, 200]);
  const lacking = [{ manage_billing: true }, { instance_write: false }, { api: { instance_write: false } }];
  expect(lacking.map(status)).toEqual([403, 403, 403]);
});

test.each([
  [{ id: 7, tail: 5 }, 400, 'api_key: '],
  [{ id: 7, tail: 0, api_key: 'emulator-key' }, 400, 'tail: '],
  [{ id: 7, tail: 5, api_key: 'nobody' }, 401, 'api_key: '],
  [{ id: 9, tail: 5, api_key: 'emulator-key' }, 404, 'id: no worker group 9'],
])('logs %j answers %i as {error_msg}', (body, status, reason) => {
  const answer = labOf(specDialect).sent('POST', '/get_workergroup_logs', body);
  expect(answer).toMatchObject({ status, body: { error_msg: expect.any(String) as string } });
  expect(answer.reason).toContain(reason);
});

test('an answer of our own that breaks the contract is a 500 that says where', () => {
  const { sent, world } = labOf(specDialect);
  const window = { id: 1, machine_id: 11, start_time: 9e9, duration_hours: 1 };
  const [machine] = world.state.machines.values();
  machine?.maintenances.splice(0, 1, { ...window, maintenance_category: 5 as unknown as string });
  const { status, reason } = sent('POST', '/api/v0/machines/maintenances', { machine_ids: [11] });
  expect(status).toBe(500);
  expect(reason).toContain('the answer of machines.maintenances breaks the contract: 0.maintenance_category');
});

test('a body that is null names nothing, and is refused where one is needed', () => {
  const { sent } = labOf();
  const { reason } = sent('POST', '/get_workergroup_logs/', null);
  expect(reason).toBe('body: Invalid input: expected object, received null');
  expect(sent('POST', BEAT, null).body).toMatchObject({ deployment_id: 42 });
});
