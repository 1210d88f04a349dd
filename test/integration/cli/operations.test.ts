import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { readText } from '../../../src/cli/console.ts';
import { jsonIn, pilotlight, typed } from '../../support/console.ts';
import { serviceOf } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The body that a command would send. */
async function bodyOf(line: string, stdin = ''): Promise<unknown> {
  const { code, stdout, stderr } = await typed(`${line} --dry-run`, { stdin });
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout.split('\n\n')[1] ?? '');
}

describe('flags', () => {
  const VOLUME = { create_new: true, volume_id: 4, size: 10, mount_path: '/data' };
  const NO_REGISTRY = { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' };
  test.each<[line: string, body: object]>([
    [
      "template create --name vllm --image vllm/vllm-openai --env '-e A=b -p 80:80' --no-private",
      { name: 'vllm', image: 'vllm/vllm-openai', env: '-e A=b -p 80:80', private: false, ...NO_REGISTRY },
    ],
    [
      "template create --name a --image b --env '-e A=1' --env '-e B=2'",
      { name: 'a', image: 'b', env: '-e A=1 -e B=2', ...NO_REGISTRY },
    ],
    [
      `instance create 1 --image x --env "-e A='x y' -p 80:80" --env B=2=3 --env '{"C":true}'`,
      { image: 'x', env: { A: 'x y', '-p 80:80': '1', B: '2=3', C: true } },
    ],
    [
      'instances create --offer-id 1 --image x --volume-info-create-new --volume-info-volume-id 4 ' +
        '--volume-info-size 10 --volume-info-mount-path /data --args --port --args 80',
      { image: 'x', volume_info: VOLUME, args: ['--port', '80'] },
    ],
    ['worker-group create --endpoint-name chat --gpu-ram 24576MB', expect.objectContaining({ gpu_ram: 24 })],
    ['worker-group create --endpoint-name chat --gpu-ram 24GB', expect.objectContaining({ gpu_ram: 24 })],
    ["offer search 'gpu_ram>=24GB'", expect.objectContaining({ gpu_ram: { gte: 24_000 } })],
    ["offer search 'num_gpus<8' --num-gpus '>= 4'", expect.objectContaining({ num_gpus: { lt: 8, gte: 4 } })],
  ])('make the body that they name: %s', async (line, body) => {
    expect(await bodyOf(line)).toEqual(body);
  });

  test('win over the object of --input, which may come from standard input', async () => {
    const stdin = '{"name":"from stdin","image":"x","desc":"kept"}';
    const body = await bodyOf('template create --input - --name flag', stdin);
    expect(body).toMatchObject({ name: 'flag', image: 'x', desc: 'kept' });
  });

  test.each([
    [
      "instance create 1 --image x --env '-h box -p 5901 -e HOME -e A=1'",
      '-e HOME has no value and is left out; write -e HOME=value',
    ],
    [
      'worker-group create --endpoint-name chat --gpu-ram 24576',
      'gpu_ram is in GB here, so this is 24576 GB; write 24576MB if you mean that',
    ],
    ["offer search 'gpu_ram>=24'", 'gpu_ram is in MB here, so this is 24 MB; write 24GB if you mean that'],
    [
      "offer search 'num_gpu>=8'",
      'num_gpu is not a field that is known here, and is sent as it is; did you mean num_gpus?',
    ],
  ])('that may not be meant are taken with a warning: %s', async (line, warning) => {
    const ran = await typed(`${line} --dry-run`);
    expect([ran.code, ran.stderr]).toEqual([0, `warning: ${warning}\n`]);
  });

  test('a start script that is too long is packed, and one that is too long even so is refused', async () => {
    const create = ['instance', 'create', '3001', '--image', 'x', '--dry-run', '--onstart'];
    const packed = await pilotlight([...create, 'echo the same line\n'.repeat(400)]);
    expect([packed.code, packed.stderr]).toEqual([
      0,
      expect.stringContaining('onstart has 7600 characters, at most 4048'),
    ]);
    const refused = await pilotlight([...create, randomBytes(9_000).toString('base64')]);
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/compressed.*\n.*--onstart: /),
    });
  });
});

describe('what is wrong is said all at once, before anything is sent', () => {
  test.each([
    [
      'endpoint-group create --target-util 2 --max-workers many',
      ['--target-util: ', 'got 2', 'at most 1', '--max-workers: ', '"many"', '§2.7'],
    ],
    [
      'template create --env -e',
      ['--name: is missing', '--image: is missing', '--env: ', 'NAME=value', '§4.2'],
    ],
    [
      `tfa update --label ${'x'.repeat(31)}`,
      ['--label: ', 'at most 30 characters', '--tfa-method-id: needed without tfa_method'],
    ],
    ['template search --select-filters name', ["'FIELD OPERATOR VALUE'", 'notin']],
    ["template search --select-filters 'nmae = x'", ['nmae']],
    ['template create --runtype sssh', ['Allowed choices are ssh, jupyter, args']],
    [
      'template create --nmae x',
      ["unknown option '--nmae'", 'Did you mean --name', 'pilotlight template create --help'],
    ],
    ['template serach', ["unknown command 'serach'", 'search']],
    ['templat search', ["unknown command 'templat'", 'template']],
    ['deployment heartbeat 42 --id 43', ['given twice']],
    ['deployment heartbeat', ['--id: is missing', 'deployment id']],
    // A deployment may be named; a template is deleted by its number alone.
    ['template delete x', ['--template-id: ', '"x"']],
    ["deployment heartbeat 1 --input '[]'", ['one JSON object']],
    ['deployment heartbeat 1 --timeout soon', ['500ms, 20s, 5m or 1h']],
    ['deployment heartbeat 1 --timeout 597h', ['at most 596h']],
    ['template', ['search', 'create']],
    ["offer search 'limit=5'", ['write --limit']],
    [
      "offer search num_gpus --order 'a b'",
      [`error: "num_gpus" takes 'FIELD OPERATOR VALUE'`, `error: --order: "a b" takes a field such as price`],
    ],
    ['offer search --num-gpus many', [`--num-gpus: "many" takes 'OPERATOR VALUE' such as '>= 10'`]],
  ])('%s', async (line, parts) => {
    const ran = await typed(line, { env: { API_KEY: 'x', BASE_URL: 'http://127.0.0.1:9' } });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    for (const part of parts) expect(ran.stderr).toContain(part);
  });

  test('of a file, which may begin with a byte order mark, or not be there', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'groups.json');
    writeFileSync(path, '\uFEFF{"target_util":2}');
    const ran = await pilotlight(['check', path], { read: readText });
    expect(ran.stderr).toContain('groups.json.target_util: got 2; allowed: a number above 0 and at most 1');
    const missing = await pilotlight(['user', 'current', '--input', '@nowhere'], { read: readText });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('error: nowhere: ENOENT') });
  });

  test('without showing a secret', async () => {
    const env = { API_KEY: 'x', BASE_URL: 'http://127.0.0.1:9' };
    for (const line of [
      'tfa confirm-authorization --code 98765 --secret b1946ac9',
      `call tfa.login '{"code":"98765"}'`,
    ]) {
      const { code, stderr } = await typed(line, { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining('a code has 6 digits')]);
      expect(stderr).not.toContain('98765');
    }
  });

  test('with what the environment lacks', async () => {
    const { code, stderr } = await pilotlight(['deployment', 'heartbeat', '-1']);
    expect(code).toBe(2);
    for (const part of ['PILOTLIGHT_API_KEY', 'PILOTLIGHT_BASE_URL']) expect(stderr).toContain(part);
  });
});

describe('exit codes', () => {
  test('0 done, 1 refused, 3 not reachable, 4 not authorized', async () => {
    await using emulator = await startEmulator();
    const env = serviceOf(emulator);
    expect(await typed('deployment heartbeat 42', { env })).toMatchObject({ code: 0, stderr: '' });
    const refused = await typed('deployment heartbeat 99', { env });
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('not_found') });
    expect(await typed('user current', { env: { ...env, API_KEY: 'wrong' } })).toMatchObject({ code: 4 });
    const nobody = { ...env, BASE_URL: 'http://127.0.0.1:1' };
    expect(await typed('user current', { env: nobody })).toMatchObject({ code: 3 });
    await emulator.faults.add({ kind: 'hang' });
    const late = await typed('template delete 9 --timeout 50ms', { env });
    expect(late).toMatchObject({ code: 3, stderr: expect.stringContaining('50 ms') });
  });
});

test.each([
  ['--min-load 7', { min_load: 7, target_util: 0.9 }],
  ['--endpoint-state stopped', { endpoint_state: 'stopped', min_load: 1500 }],
])(
  'an update sends the parameters that it leaves out, as the service may reset them: %s',
  async (flags, now) => {
    await using emulator = await startEmulator({ dialect: 'public', traits: { put_endpoint: 'resets' } });
    const env = { API_KEY: emulator.apiKey, BASE_URL: emulator.url };
    await using client = createClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
    await client.endpointGroups.update({ id: 31, min_load: 1500, max_workers: 7, cold_workers: 2 });
    const ran = await pilotlight(['endpoint-group', 'update', 'chat', ...flags.split(' ')], { env });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(emulator.endpointGroups.list()).toMatchObject([{ ...now, max_workers: 7, cold_workers: 2 }]);
  },
);

test.each([
  ['create --endpoint-name x --cold-workers 5 --max-workers 2', 2],
  ['update chat --max-workers 1', 2],
  ['update chat --cold-workers 1 --max-workers 2', 0],
])('more cold workers than workers are not sent: endpoint-group %s', async (words, code) => {
  await using emulator = await startEmulator({ dialect: 'public' });
  const ran = await typed(`endpoint-group ${words}`, { env: serviceOf(emulator) });
  expect(ran).toMatchObject({
    code,
    stderr: code === 0 ? '' : expect.stringMatching(/cold_workers: [25] workers/),
  });
  expect(emulator.journal.entries().some(({ method }) => method !== 'GET')).toBe(code === 0);
});

describe('the secret of a login by password', () => {
  const phone = { id: 1, method: 'sms' as const, phone_number: '+15551234567' };
  const seed = { users: [{ id: 1, email: 'a@example.com', tfa_methods: [phone] }] };

  test('is enough, without a key, for the four commands that complete it', async () => {
    await using emulator = await startEmulator({ seed });
    const env = { BASE_URL: emulator.url };
    const secret = `--secret ${emulator.tfa.startLogin(1).tfa_secret}`;
    for (const name of ['send-sms', 'resend-sms', 'send-email'])
      expect(await typed(`tfa ${name} ${secret}`, { env })).toMatchObject({ code: 0 });
    const { code } = emulator.outbox.latest({ channel: 'email' });
    const login = await typed(`tfa login ${secret} --tfa-method email --code ${code} --json`, { env });
    expect(login.code).toBe(0);
    expect(jsonIn(login)).toMatchObject({ id: 1 });
  });

  test('is shown by --dry-run, with a key only where there is one', async () => {
    const env = { BASE_URL: 'http://127.0.0.1:9' };
    const line = 'tfa send-email --secret b1946ac9 --dry-run';
    const { code, stdout, stderr } = await typed(line, { env });
    expect([code, stdout + stderr]).toEqual([
      0,
      expect.not.stringMatching(/authorization|API_KEY|b1946ac9/i),
    ]);
    const withKey = await typed(line, { env: { ...env, API_KEY: 'key' } });
    expect(withKey.stdout).toContain('authorization: Bearer');
  });

  test('is what they ask for in place of a key, and no other command does', async () => {
    await using emulator = await startEmulator({ seed });
    const env = { BASE_URL: emulator.url };
    for (const words of ['send-sms', 'status', 'confirm-authorization --secret b1946ac9 --code 123456']) {
      const { code, stderr } = await typed(`tfa ${words}`, { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining('PILOTLIGHT_API_KEY')]);
    }
    const malformed = await typed('tfa send-sms --secret x', { env: { ...env, API_KEY: 'a b' } });
    expect(malformed.code).toBe(2);
    expect(emulator.journal.entries()).toEqual([]);
  });
});

describe('searches by conditions', () => {
  test('find offers that can be rented, in the order that is asked for', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    const env = serviceOf(emulator);
    const search = async (words: string) => {
      const { stdout } = await typed(`offer search ${words} --json`, { env });
      return (JSON.parse(stdout) as { offers: { id: number }[] }).offers.map(({ id }) => id);
    };
    expect(await search("'gpu_name=RTX_4090 num_gpus>=1' --order price")).toEqual([3004, 3001, 3002]);
    expect(await search("'price<1 gpu_name=RTX_4090' --order price-")).toEqual([3002, 3001, 3004]);
    await typed('instance create 3004 --image x --disk 20', { env });
    expect(await search("'price<0.5'")).toEqual([3001]);
    expect(await search("'price<0.5 rented=true rentable=false'")).toEqual([3004]);
  });

  test('are sent where there is an address; a dry run shows the variable that it would come from', async () => {
    const { stdout } = await typed('worker-group logs 7 --tail 9 --dry-run --json');
    const url = '$SERVERLESS_URL/get_workergroup_logs';
    const body = '{"id":7,"tail":9,"api_key":"<redacted>"}';
    expect(JSON.parse(stdout)).toMatchObject({ method: 'POST', url, body });
  });

  test('go into select_filters, or unchecked beside the known fields', async () => {
    const searched = await typed("offer search 'cuda_max_good>=12.4 num_gpus=1' --dry-run");
    expect(JSON.parse(searched.stdout.split('\n\n')[1] ?? '')).toMatchObject({
      cuda_max_good: { gte: 12.4 },
      num_gpus: { eq: 1 },
      rented: { eq: false },
    });
    const { stdout } = await typed("template search 'name=vllm recommended=False' --dry-run");
    const [, url = ''] = /GET (\S+)/.exec(stdout) ?? [];
    expect(JSON.parse(new URLSearchParams(url.split('?')[1]).get('select_filters') ?? '')).toEqual({
      name: { eq: 'vllm' },
      recommended: { eq: false },
    });
  });
});

describe('secrets', () => {
  test('in rows are hidden, unless they are asked for', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    const env = serviceOf(emulator);
    const read = async (line: string) => (await typed(line, { env })).stdout;
    const shown = await read('endpoint-group list --json --show-keys');
    const key = /"api_key":"([0-9a-f]{64})"/.exec(shown)?.[1];
    expect(key).toBeDefined();
    for (const line of ['endpoint-group list', 'endpoint-group show 31']) {
      expect(await read(`${line} --json`)).not.toContain(key);
      expect(await read(line)).not.toContain(key);
    }
    expect(await read('call endpointGroups.list')).toContain('"api_key":"[redacted]"');
    expect(await read('call endpointGroups.list --show-keys')).toContain(key);
  });

  test('in fields that nobody knows are never repeated', async () => {
    for (const [operation, input] of [
      ['templates.create', '{"name":"a","image":"b","apikey":"sekret"}'],
      ['templates.search', '{"select_filters":{"nam":{"eq":"sekret"}}}'],
      ['instances.create', '{"offer_id":1,"image":"x","volume_info":{"key":"sekret"}}'],
    ] as const) {
      const { code, stdout, stderr } = await pilotlight(['call', operation, input, '--dry-run']);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).not.toContain('sekret');
    }
    const read = (): string => '{"api_key":"sekret","target_util":0.9}';
    const { code, stderr } = await pilotlight(['check', 'groups.json'], { read });
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('sekret')]);
  });
});
