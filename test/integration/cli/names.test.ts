/** Names where ids are awkward, and tables that a person reads. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { type Around, jsonIn, pilotlight, type Ran } from '../../support/console.ts';

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ dialect: 'public', clock: { frozenAtMs: Date.UTC(2026, 0, 1) } });
});
afterEach(() => emulator.close());

function run(line: string, around: Around = {}): Promise<Ran> {
  const env = { API_KEY: emulator.apiKey, BASE_URL: emulator.url };
  return pilotlight(line.split(' '), { env, ...around });
}

function stateOf(id: number): string {
  return emulator.deployments.get(id).endpointState;
}

describe('a name in place of an id', () => {
  test('that fits several things is refused, with the list of them, by commands that change something', async () => {
    for (const command of ['stop square', 'delete square']) {
      const { code, stderr, stdout } = await run(`deployment ${command}`);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('square fits 2 of them');
      expect(stderr).toContain('  42  square/default\n  43  square/blue\n');
    }
    expect(emulator.journal.entries().every(({ operation }) => operation === 'deployments.list')).toBe(true);
    expect(emulator.deployments.list()).toHaveLength(2);
  });

  test('with its tag fits one', async () => {
    expect(await run('deployment stop square/blue')).toMatchObject({ code: 0, stdout: 'stopped\n' });
    expect([stateOf(42), stateOf(43)]).toEqual(['active', 'stopped']);
    expect(await run('deployment delete-by-name --name square --tag blue')).toMatchObject({ code: 0 });
    expect(await run('deployment stop square')).toMatchObject({ code: 0 });
    expect(stateOf(42)).toBe('stopped');
  });

  test('is taken for endpoint groups, instances and keys too', async () => {
    emulator.traits.set({ instances_v0: '410' });
    expect((await run('endpoint-group show chat')).stdout).toContain('endpoint_name');
    expect((await run('endpoint-group workers chat')).stdout).toContain('501');
    expect((await run('worker-group workers 7')).stdout).toContain('501');
    expect((await run('worker-group workers chat')).stderr).toContain('chat fits 2 of them; give an id:');
    expect(await run('worker-group update-workers chat')).toMatchObject({ code: 2 });
    expect(await run('endpoint-group update chat --endpoint-state stopped')).toMatchObject({ code: 0 });
    expect(emulator.endpointGroups.list()).toMatchObject([{ endpoint_state: 'stopped' }]);
    expect(await run('instance update steady --state stopped')).toMatchObject({ code: 0 });
    expect((await run('instance show steady --json')).stdout).toContain('"intended_status":"stopped"');
    expect(await run('instance destroy steady')).toMatchObject({ code: 0 });
    expect(emulator.instances.list().map(({ id }) => id)).toEqual([502, 503, 504]);
    expect(await run('api-key delete team')).toMatchObject({ code: 0 });
    expect(emulator.apiKeys.list()).toHaveLength(1);
  });

  test('that nothing has is said to be so, with the command that lists the names', async () => {
    const { code, stderr } = await run('deployment stop circle');
    expect(code).toBe(1);
    expect(stderr).toBe('error: no deployment is called circle (deployment list lists them)\n');
    const gone = 'error: the service has nothing of this id: instances.get answered null\n';
    expect(await run('instance show 999')).toEqual({ code: 1, stdout: '', stderr: gone });
  });

  test('is not looked up by a dry run, which says so', async () => {
    const { code, stderr } = await run('deployment stop square --dry-run');
    expect(code).toBe(2);
    expect(stderr).toContain('it takes ids and no names');
    expect(emulator.journal.count()).toBe(0);
  });

  test('is not looked up where an id is given, as ids are written', async () => {
    expect(await run('deployment stop 42')).toMatchObject({ code: 0 });
    expect(emulator.journal.entries().map(({ operation }) => operation)).toEqual(['deployments.stop']);
    expect((await run('deployment stop 042')).stderr).toContain('no deployment is called 042');
  });
});

describe('tables', () => {
  test('show of long rows what a person looks for, never a key, and say what they leave out', async () => {
    const deployments = await run('deployment list', { columns: 120 });
    expect(deployments.stdout).toMatch(
      /^ID +NAME +TAG +ENDPOINT_STATE +WORKER_COUNT +TTL +LAST_CLIENT_HEARTBEAT/,
    );
    expect(deployments.stdout).toMatch(/more fields: --json shows all/);
    const narrow = await run('instance list', { columns: 40 });
    expect(narrow.stdout).toMatch(/ID +LABEL .*\n +501 /);
    const widths = narrow.stdout.split('\n').map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(40);
    const groups = await run('endpoint-group list');
    expect(groups.stdout).toMatch(/^ID +ENDPOINT_NAME +ENDPOINT_STATE/);
    expect(groups.stdout).not.toMatch(/[0-9a-f]{64}/);
    const all = await run('endpoint-group list --json');
    expect(jsonIn(all)).toMatchObject({ results: [{ api_key: expect.any(String) as unknown }] });
  });

  test('show what became of each offer, a row for each', async () => {
    const { stdout } = await run('instance create-bulk 3001,9 --image x');
    expect(stdout).toMatch(/results:\n +ASK_ID +SUCCESS +NEW_CONTRACT/);
    expect(stdout).toMatch(/\n +9 +false .*no_such_ask +Instance type 9 is not available/);
    expect(stdout).toMatch(/\n +3001 +true +505/);
  });
});

test('show and get are one command, and so are worker-group and workergroup', async () => {
  const [shown, got] = [await run('deployment show 42 --json'), await run('deployments get 42 --json')];
  expect(shown.stdout).toBe(got.stdout);
  for (const word of ['worker-group', 'worker-groups', 'workergroup', 'workergroups'])
    expect(await run(`${word} logs 7 --tail 1`)).toMatchObject({ code: 0 });
});
