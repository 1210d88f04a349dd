/** Whatever comes to a port, each listener answers or closes, and goes on. */
import { join } from 'node:path';
import * as fc from '../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { DEFAULT_TEAM_KEY, startEmulator } from '../../../src/emulator/index.ts';
import { encodeRequest } from '../../../src/wire/request.ts';
import { casesOf, PATIENCE, withoutHang, withoutHangOf } from '../../support/bad-input/cases.ts';
import { damagedRequests, exchange, type Request } from '../../support/bad-input/raw-requests.ts';
import { serviceOf } from '../../support/daemon.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { ask } from '../../support/raw-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HOST = { host: '127.0.0.1' };
const FLEET = [
  '?endpoint=chat&from=-6h&to=now&rows=500&format=csv',
  '?from=1700000000&to=2026-11-22T06:00:00Z',
  '?endpoint=%00&rows=1e9',
];

/** Those of LISTEN. */
const SHOWN: readonly Request[] = [
  '/',
  '/metrics',
  '/livez',
  '/readyz',
  '/api/status',
  '/api/status/schema',
  '/api/fleet/schema',
  ...FLEET.map((query) => `/api/fleet${query}`),
].flatMap((target) => ['GET', 'HEAD'].map((method) => ({ method, target, headers: HOST })));

/** Those of ADMIN_LISTEN. Whoever may ask for the end gets it, so nobody here may. */
const ADMIN: readonly Request[] = [
  { method: 'GET', target: '/-/config', headers: HOST },
  { method: 'POST', target: '/-/reload', headers: HOST },
  { method: 'PUT', target: '/-/log-level', headers: HOST, body: 'info' },
  ...[{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }].flatMap((foreign) =>
    ['/-/reload', '/-/config'].map((target) => ({
      method: 'POST',
      target,
      headers: { ...HOST, ...foreign },
    })),
  ),
];

/** Answers to one connection: each begins as one does, and none is that of a bug. */
function expectAnswers(text: string): void {
  if (text === '') return;
  expect(text).toMatch(/^HTTP\/1\.1 [1-5]\d\d /);
  expect(text).not.toMatch(/HTTP\/1\.1 500 /);
}

describe('of the daemon', () => {
  test.each(['127.0.0.1:0', 'unix'])('with ADMIN_LISTEN %s', { timeout: PATIENCE }, async (admin) => {
    using folder = temporaryFolder();
    await using emulator = await startEmulator();
    await using daemon = await startDaemonProcess({
      ...serviceOf(emulator),
      DEPLOYMENTS: '42@300s',
      WORKER_GROUPS: '7',
      ENDPOINTS: 'all',
      STATE_DIR: folder.path,
      ADMIN_LISTEN: admin === 'unix' ? `unix:${join(folder.path, 'admin.sock')}` : admin,
    });
    const pid = daemon.daemonPid();
    const requests = fc.oneof(
      damagedRequests(SHOWN).map((bytes) => [daemon.url, bytes] as const),
      damagedRequests(ADMIN).map((bytes) => [daemon.adminUrl, bytes] as const),
    );
    await fc.assert(
      fc.asyncProperty(requests, async ([url, bytes]) => {
        expectAnswers(await withoutHangOf(pid, () => exchange(url, bytes)));
      }),
      casesOf(80),
    );
    expect(daemon.daemonPid()).toBe(pid);
    expect(await ask(daemon.url, 'GET', '/livez')).toEqual({ status: 200, body: 'live\n' });
    expect((await ask(daemon.adminUrl, 'GET', '/-/config')).status).toBe(200);
    // What strangers send is no trouble of the operator's.
    expect(daemon.stderr()).not.toMatch(/"level":"(?:error|fatal)"/);
    // A field that a line has twice is read as one or the other.
    for (const line of daemon.stderr().trim().split('\n'))
      expect(JSON.stringify(JSON.parse(line))).toBe(line);
  });
});

test('of the emulator', { timeout: PATIENCE }, async () => {
  await using emulator = await startEmulator({ clock: 'frozen' });
  const authorized = { ...HOST, authorization: `Bearer ${DEFAULT_TEAM_KEY}` };
  const requests = OPERATION_IDS.map((id): Request => {
    const encoded = encodeRequest(operationOf(id), operationOf(id).example.input, DEFAULT_TEAM_KEY);
    if (!encoded.ok) throw new Error(id);
    const { method, target, body = '' } = encoded.request;
    return { method, target, body, headers: { ...authorized, 'content-type': 'application/json' } };
  });
  const own = ['/_emulator/journal', '/_emulator/faults', '/docs', '/openapi.json'].map((target) => ({
    method: 'GET',
    target,
    headers: HOST,
  }));
  await fc.assert(
    fc.asyncProperty(damagedRequests([...requests, ...own]), async (bytes) => {
      expectAnswers(await withoutHang(() => exchange(emulator.url, bytes)));
    }),
    casesOf(200),
  );
  expect((await ask(emulator.url, 'GET', '/_emulator/journal')).status).toBe(200);
});
