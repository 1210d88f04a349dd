/** What is refused because of what came before, and why. */
import { expect, test } from 'vitest';
import { publicDialect } from '../../../../src/emulator/dialect/dialect.ts';
import { DEFAULT_SEED } from '../../../../src/emulator/seed/default.ts';
import { createLab } from '../../../support/two-factor.ts';

function labOf() {
  const lab = createLab({}, publicDialect, DEFAULT_SEED);
  return {
    ...lab,
    sent: (method: string, path: string, body: unknown, key = 'emulator-key') => {
      const answer = lab.send(method, path, JSON.stringify(body), key);
      return { ...answer, reason: answer.headers['x-emulator-reason'] };
    },
  };
}

test('an offer is rented once', () => {
  const { sent } = labOf();
  const rent = () => sent('PUT', '/api/v0/asks/3001/', { image: 'a' });
  expect(rent().status).toBe(200);
  expect(rent()).toMatchObject({
    status: 410,
    body: { error: 'no_such_ask', ask_id: 3001 },
    reason: 'offer_id: offer 3001 is not available: it is rented already',
  });
});

test('a key makes none that may more than itself', () => {
  const { sent } = labOf();
  const make = (permissions: unknown, key?: string) =>
    sent('POST', '/api/v0/auth/apikeys/', { name: 'ci', permissions }, key);
  const key = String(make({ manage_billing: true }).body.key);
  expect(make({ manage_billing: true }, key).status).toBe(200);
  for (const within of [{ billing_read: true }, { api: { billing_write: {} } }, {}, { manage_team: false }])
    expect(make(within, key).status).toBe(200);
  const lacks = (what: string) => ({
    status: 403,
    body: { error: 'forbidden' },
    reason: `permissions: this key lacks ${what} itself`,
  });
  const more = { manage_instances: true, billing_read: true };
  expect(make(more, key)).toMatchObject(lacks('instance_read, instance_write'));
  expect(make({ api: { user_write: {} } }, key)).toMatchObject(lacks('user_write'));
  expect(make(undefined, key)).toMatchObject(lacks('full access'));
});

test('a body that is null names nothing, and is refused where one is needed', () => {
  const { sent } = labOf();
  expect(sent('POST', '/get_workergroup_logs/', null).reason).toBe(
    'body: Invalid input: expected object, received null',
  );
  expect(sent('POST', '/api/v0/deployment/42/heartbeat', null).body).toMatchObject({ deployment_id: 42 });
});

test('a template that is added belongs to the first user', () => {
  const { world, templates } = labOf();
  expect(templates.add({ id: 90, name: 'own', image: 'a' })).toMatchObject({ id: 90, creator_id: 1 });
  world.state.users.clear();
  expect(templates.add({ id: 91, name: 'nobody’s', image: 'a' })).toMatchObject({ creator_id: 0 });
});
