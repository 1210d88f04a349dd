import { describe, expect, test } from 'vitest';
import { operationOf } from '../../../../../src/contract/operations.ts';
import { readAnswer } from '../../../../../src/wire/reading.ts';

const list = operationOf('deployments.list').response;
const get = operationOf('deployments.get').response;

describe('a list of deployments is read for what it means', () => {
  test.each([
    ['an added field', { colour: 'blue' }, { colour: 'blue' }],
    ['nulls', { tag: null, ttl: null, endpoint_state: null }, { tag: null, ttl: null, endpoint_state: null }],
    ['a state that nobody knew', { endpoint_state: 'melting' }, { endpoint_state: 'melting' }],
    ['numbers as text', { id: '7', ttl: '300' }, { id: 7, ttl: 300 }],
    ['a name that is a number', { name: 7 }, { name: '7' }],
    ['fields that cannot be read', { ttl: 'soon', name: ['square'], worker_count: {} }, {}],
  ])('%s', (_, fields, read) => {
    const answer = { success: true, deployments: [{ id: 7, ...fields }] };
    expect(readAnswer(list, answer).data).toEqual({ success: true, deployments: [{ id: 7, ...read }] });
  });

  test('bad rows do not lose the good ones', () => {
    const deployments = [null, { id: 1 }, 'row', { name: 'no id' }, { id: -3 }, { id: 2.5 }, [], { id: 2 }];
    expect(readAnswer(list, { deployments }).data).toEqual({ deployments: [{ id: 1 }, { id: 2 }] });
  });

  test.each([[{}], [{ deployments: null }], [{ deployments: { id: 1 } }], [[{ id: 1 }]], [null]])(
    '%j is no list',
    (answer) => expect(readAnswer(list, answer).success).toBe(false),
  );
});

describe('one deployment', () => {
  const deployment = { id: 42, ttl: 300 };

  test('is read wrapped and flat', () => {
    expect(readAnswer(get, { success: true, deployment }).data).toEqual({ success: true, deployment });
    expect(readAnswer(get, { success: true, ...deployment }).data).toEqual({
      deployment: { success: true, ...deployment },
    });
    expect(readAnswer(get, { ttl: null }).data).toEqual({ deployment: { ttl: null } });
  });

  test.each([[{}], [{ success: true }], [{ deployment: null }], [{ deployment: {} }], ['gone'], [[]]])(
    '%j says nothing of one',
    (answer) => expect(readAnswer(get, answer).success).toBe(false),
  );
});
