/** Commands about the interface itself, as they are typed. */
import { describe, expect, test } from 'vitest';
import { OPERATION_IDS } from '../../../../src/contract/operations.ts';
import { pilotlight } from '../../../support/console.ts';

const BASE_URL = 'http://127.0.0.1:1';

describe('ops', () => {
  test('has a row for each operation', async () => {
    const { code, stdout } = await pilotlight(['ops']);
    const [heading = '', ...rows] = stdout.trimEnd().split('\n');
    expect([code, heading.split(/\s+/)]).toEqual([0, ['OPERATION', 'COMMAND', 'DOES', 'SOURCE']]);
    expect(rows.map((row) => row.split(' ')[0])).toEqual([...OPERATION_IDS]);
    expect(rows.find((row) => row.startsWith('deployments.heartbeat'))).toMatch(/ deployment heartbeat .*§/);
  });

  test('has what programs want to know as JSON', async () => {
    const { stdout } = await pilotlight(['ops', '--json']);
    const rows = JSON.parse(stdout) as { id: string; command: string; deprecated: boolean }[];
    expect(rows.map(({ id }) => id)).toEqual([...OPERATION_IDS]);
    expect(new Set(rows.map(({ command }) => command)).size).toBe(rows.length);
    expect(rows.find(({ id }) => id === 'deployments.heartbeat')).toMatchObject({
      command: 'deployment heartbeat',
      method: 'POST',
      path: '/api/v0/deployment/{id}/heartbeat',
      base: 'main',
      deprecated: false,
    });
    expect(rows.some(({ deprecated }) => deprecated)).toBe(true);
    expect(stdout).toMatch(/^\[\n {2}\{\n/);
  });
});

describe('call', () => {
  const env = { API_KEY: 's3cret', BASE_URL };

  test.each([
    [['deployments.heartbeat', '{"id":42}'], ''],
    [['deployments.heartbeat', '-'], '{"id":42}'],
  ])('shows what it would send: %j', async (words, stdin) => {
    const around = { env, stdin };
    const dry = await pilotlight(['call', ...words, '--dry-run'], around);
    expect([dry.code, dry.stdout.split('\n')[0]]).toEqual([
      0,
      `POST ${BASE_URL}/api/v0/deployment/42/heartbeat`,
    ]);
    expect(dry.stdout).not.toContain('s3cret');
  });

  test('takes no input for none, and all that is wrong is said', async () => {
    const { stdout } = await pilotlight(['call', 'instances.list', '--dry-run'], { env });
    expect(stdout.split('\n')[0]).toBe(`GET ${BASE_URL}/api/v0/instances/`);
    const { code, stderr } = await pilotlight(['call', 'nothing', '5'], { env });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: no operation nothing.*\nerror: the second argument is not a JSON object\n$/,
      ),
    ]);
  });
});

test('openapi has the servers of the environment, where it names them', async () => {
  const env = { BASE_URL, SERVERLESS_URL: 'http://127.0.0.1:2' };
  const urls = (text: string) =>
    (JSON.parse(text) as { servers: { url: string }[] }).servers.map(({ url }) => url);
  const { code, stdout } = await pilotlight(['openapi'], { env });
  expect([code, urls(stdout)]).toEqual([0, [BASE_URL, 'http://127.0.0.1:2']]);
  expect(stdout.startsWith('{\n  "openapi": "3.1.1",')).toBe(true);
  expect(urls((await pilotlight(['openapi'])).stdout)).toEqual(['{base_url}', '{serverless_url}']);
});

test('what comes next at a Tab has its meaning behind it, where it has one', async () => {
  const { stdout } = await pilotlight(['__complete', '--', 'healthche']);
  expect(stdout).toMatch(/^healthcheck\tExit with 0 if the local daemon is live[^\n]*\n$/);
  expect((await pilotlight(['__complete', '--', 'completion', 'z'])).stdout).toBe('zsh\n');
});
