import { Ajv2020 } from 'ajv/dist/2020.js';
import { toJSONSchema } from 'zod';
import { expect, test } from 'vitest';
import { statusSchema } from '../../../src/daemon/status/schema.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { serviceOf, startTestDaemon, until } from '../../support/daemon.ts';

/** What a schema says against a value: nothing when it fits. */
function validator(schema: object): (value: unknown) => unknown[] {
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}

/** The same schema, for which a field that it does not name is an error. */
const strictProblems = validator(toJSONSchema(statusSchema, { io: 'output', target: 'draft-2020-12' }));

test('answers fit the served schema, with nothing left out, from first to last', async ({ onTestFailed }) => {
  await using emulator = await startEmulator();
  await emulator.faults.add({ kind: 'refused', forMs: 1_500 });
  await using daemon = await startTestDaemon({
    ...serviceOf(emulator),
    DEPLOYMENTS: '42@300s,43,4711',
    WORKER_GROUPS: '7,9999',
    MACHINES: '11,12',
    // The first look may fall into the outage.
    ACCOUNT_SCHEDULE: '*/2 * * * * *',
    ENDPOINT_GROUPS: '[{"endpoint_name":"chat","target_util":0.97},{}]',
  });
  onTestFailed(() => void process.stderr.write(`${JSON.stringify(daemon.daemon.status())}\n`));
  const served = await fetch(`${daemon.url}/api/status/schema`);
  expect(served.headers.get('content-type')).toBe('application/schema+json');
  const problems = validator((await served.json()) as object);
  const check = async (): Promise<void> => {
    const answer: unknown = await (await fetch(`${daemon.url}/api/status`)).json();
    expect(problems(answer)).toEqual([]);
    expect(strictProblems(answer)).toEqual([]);
  };
  await check();
  await until(async () => {
    await check();
    const { account, deployments, worker_groups: groups } = daemon.daemon.status();
    const gone = deployments.some(({ state }) => state === 'gone');
    return account !== null && gone && (groups[0]?.lines ?? 0) > 0 && (groups[1]?.last_error ?? '') !== '';
  });
  expect(problems({ ...daemon.daemon.status(), state: 'asleep' })).not.toEqual([]);
  expect(problems({ ...daemon.daemon.status(), added_later: 1 })).toEqual([]);
});
