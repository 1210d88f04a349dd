/** `pilotlight emulator` as it is typed, in this process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClient } from '../../../../src/client/client.ts';
import { pilotlight, startInProcess } from '../../../support/console.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** One that is running, until it is interrupted. */
async function emulator(...words: readonly string[]) {
  const running = startInProcess(['emulator', ...words]);
  await expect.poll(running.stdout).not.toBe('');
  const [url = ''] = /http:\/\/\S+/.exec(running.stdout()) ?? [];
  return { ...running, url };
}

test('says where it is and with which key, answers until it is interrupted, and then is gone', async () => {
  const { url, stdout, interrupt, exit } = await emulator();
  expect(stdout()).toBe(
    `emulator listening on ${url} (API key: emulator-key; dialect: spec)
  API keys       emulator-key (default), emulator-team-key (team)
  deployments    42 (square/default), 43 (square/blue)
  endpoints      31 (chat)
  worker groups  7 (of endpoint 31), 8 (of endpoint 31)
  instances      501 (steady), 502 (starting), 503 (ends after a quarter of an hour), 504 (never starts)
  machines       11, 12
  templates      9 (vllm), 10 (Jupyter Lab), 11 (of somebody else)
  offers         3001, 3002, 3003, 3004
its interface to read and try: ${url}/docs
to reach it: export PILOTLIGHT_BASE_URL=${url} PILOTLIGHT_API_KEY=emulator-key
`,
  );
  expect(new URL(url).hostname).toBe('127.0.0.1');
  expect((await fetch(`${url}/docs`)).status).toBe(200);
  interrupt();
  expect(await exit).toBe(0);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('on all addresses of the machine it names one that can be reached', async () => {
  const running = await emulator('--host', '0.0.0.0');
  const reachable = running.url.replace('0.0.0.0', '127.0.0.1');
  expect(running.stdout()).toContain(`export PILOTLIGHT_BASE_URL=${reachable} `);
  expect((await fetch(`${reachable}/docs`)).status).toBe(200);
  running.interrupt();
  await running.exit;
});

test('has the seed, the loads, the dialect and the address that it is given', async () => {
  using folder = temporaryFolder();
  const seed = join(folder.path, 'seed.json');
  const machines = Array.from({ length: 9 }, (_, index) => ({ id: index + 1 }));
  const groups = [{ id: 5, endpoint_name: 'talk' }];
  const content = { deployments: [{ id: 77, ttl: 60 }], machines, endpoint_groups: groups };
  writeFileSync(seed, JSON.stringify(content));
  const words = ['--seed', seed, '--dialect', 'public', '--host', '127.0.0.2', '--port', '0'];
  const running = await emulator(...words, '--load', 'talk=constant:5');
  expect([running.stdout(), new URL(running.url).hostname]).toEqual([
    expect.stringMatching(/dialect: public.*machines +1, 2, 3, 4, 5, 6, 7, 8 and 1 more\n/s),
    '127.0.0.2',
  ]);
  const loads = await fetch(`${running.url}/_emulator/load`);
  expect(await loads.json()).toMatchObject({ loads: [{ id: 5, load: { shape: 'constant', rate: 5 } }] });
  await using client = createClient({ baseUrl: running.url, apiKey: 'emulator-key' });
  await expect(client.deployments.heartbeat({ id: 77 })).resolves.toMatchObject({ success: true });
  running.interrupt();
  await running.exit;
});

test('has the traits that it is given, and tells all that is wrong with them', async () => {
  using folder = temporaryFolder();
  const [good, bad] = [join(folder.path, 'good.json'), join(folder.path, 'bad.json')];
  writeFileSync(good, '{"rate_limit":{"operations":"evidence"}}');
  writeFileSync(bad, '{"rate_limit":"on","throttled_shape":"xml"}');
  const { url, interrupt, exit } = await emulator('--traits', good);
  const traits = await fetch(`${url}/_emulator/traits`);
  expect(await traits.json()).toMatchObject({ rate_limit: { operations: 'evidence' } });
  interrupt();
  await exit;
  const refused = await pilotlight(['emulator', '--traits', bad]);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/rate_limit: allowed: "off", .*throttled_shape: Invalid option/s);
});

test.each([
  [['--load', 'chat'], 2, 'error: --load chat: allowed: ENDPOINT=SHAPE:RATE'],
  [['--load', 'talk=constant:5'], 2, 'error: --load talk=constant:5: no endpoint talk; allowed: chat'],
  [['--seed', '/no/such/seed.json'], 2, 'error: /no/such/seed.json'],
  [['--traits', '/no/such/traits.json'], 2, 'error: /no/such/traits.json'],
  [['--host', '192.0.2.1'], 1, 'error: listen EADDRNOTAVAIL'],
])('does not begin with %j', async (words, code, said) => {
  const ran = await pilotlight(['emulator', ...words]);
  expect([ran.code, ran.stdout]).toEqual([code, '']);
  expect(ran.stderr).toContain(said);
});
