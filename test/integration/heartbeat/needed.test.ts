import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { FAILS, HANGS, startTestApp, WELL, type TestApp } from '../../support/app.ts';
import { serviceOf, startTestDaemon, until, type TestDaemon } from '../../support/daemon.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ID = 42;

function emulate(ttl: number): Promise<Emulator> {
  return startEmulator({ seed: { deployments: [{ id: ID, ttl }] } });
}

function start(emulator: Emulator, ttl: number, env: Record<string, string>): Promise<TestDaemon> {
  return startTestDaemon({ ...serviceOf(emulator), DEPLOYMENTS: `${ID}@${ttl}s`, APP_GRACE: '5s', ...env });
}

const stateOf = ({ daemon }: TestDaemon) => daemon.status().deployments[0]?.state;
const appOf = ({ daemon }: TestDaemon) => daemon.status().app?.state;
const beats = (emulator: Emulator) => emulator.deployments.get(ID).beats;
const said = ({ messages }: TestDaemon, words: RegExp) =>
  messages.filter(({ msg }) => typeof msg === 'string' && words.test(msg));

// Real sockets and real time: all at once, so that the whole takes as long as the longest.
describe.concurrent('over real sockets', () => {
  test.each<[string, (app: TestApp) => unknown, string]>([
    ['dies', (app) => app.die(), 'it refuses connections'],
    ['hangs', (app) => (app.answer = HANGS), 'no answer within 2 s'],
  ])('an app that %s is withheld, loudly, and saved when it is back', async (_, harm, why) => {
    await using app = await startTestApp();
    await using emulator = await emulate(20);
    await using daemon = await start(emulator, 20, { APP_HEALTH: app.url });
    await until(() => appOf(daemon) === 'healthy' && beats(emulator) > 0);
    await harm(app);
    await until(() => stateOf(daemon) === 'withheld');
    expect(said(daemon, /are withheld/)).toMatchObject([{ level: 'error', why }]);
    expect(await daemon.metrics()).toContain(
      `pilotlight_deployment_state{state="withheld",deployment_id="${ID}"} 1`,
    );
    expect(daemon.daemon.status().deployments[0]).toMatchObject({ next_heartbeat_at: null });
    const sent = beats(emulator);
    const left = () => (daemon.daemon.status().deployments[0]?.expires_at ?? 0) - Date.now() / 1000;
    await until(() => left() < 9);
    expect(beats(emulator)).toBe(sent);

    app.answer = WELL;
    if (why.includes('refuses')) await app.rise();
    await until(() => stateOf(daemon) === 'healthy');
    expect(emulator.deployments.get(ID)).toMatchObject({ expired: false, lapses: 0 });
    expect(said(daemon, /^heartbeats resumed$/)).toHaveLength(1);
  });

  test('a reload switches it on and off', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'app-health');
    await using app = await startTestApp(FAILS);
    await using other = await startTestApp();
    await using emulator = await emulate(60);
    writeFileSync(file, `${app.url}\n`);
    await using daemon = await start(emulator, 60, { APP_HEALTH_FILE: file });
    const reload = async (address: string) => {
      writeFileSync(file, address);
      const answer = await fetch(`${daemon.adminUrl}/-/reload`, { method: 'POST' });
      expect(answer.status).toBe(200);
    };
    await until(() => stateOf(daemon) === 'withheld');
    const sent = beats(emulator);
    await reload(`${other.url}?token=abc`);
    await until(() => beats(emulator) > sent && stateOf(daemon) === 'healthy');
    await until(() => appOf(daemon) === 'healthy');
    expect(daemon.daemon.status().app?.address).toBe(`${other.url}?…`);
    expect(said(daemon, /^heartbeats resumed$/)).toMatchObject([{ cause: 'the configuration changed' }]);
    other.answer = FAILS;
    await until(() => stateOf(daemon) === 'withheld');
    await reload(app.url);
    await until(() => appOf(daemon) === 'unhealthy' && stateOf(daemon) === 'healthy');
    expect(JSON.stringify(daemon.messages)).not.toContain('token=abc');
  });
});
