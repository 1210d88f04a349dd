/** The key that commands use which a person runs: stored once, and sent to its own address alone. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { pilotlight, typed, type Ran } from '../../support/console.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const emulator = await startEmulator({ dialect: 'public' });
afterAll(() => emulator.close());

/** With a key of the emulator, or another one. */
function logIn(configFolder: string, stdin = emulator.apiKey): Promise<Ran> {
  return typed(`login --base-url ${emulator.url}`, { configFolder, stdin });
}

function fileIn(configFolder: string): string {
  return join(configFolder, 'pilotlight', 'logins', 'default.json');
}

test('login stores a key that the service accepts, and commands use it until logout', async () => {
  using folder = temporaryFolder();
  const around = { configFolder: folder.path };
  const login = ['login', '--base-url', `${emulator.url}/`];
  const asked = await pilotlight(login, { ...around, ask: () => emulator.apiKey });
  expect(asked).toEqual({
    code: 0,
    stdout: `${emulator.url} accepts the key of user 1.\nStored in ${fileIn(folder.path)}.\n`,
    stderr: '',
  });
  expect(statSync(fileIn(folder.path)).mode & 0o777).toBe(0o600);
  expect((await pilotlight(['user', 'current'], around)).stdout).toContain('dev@example.com');
  expect((await pilotlight(['logs', '7', '--tail', '1'], around)).code).toBe(0);
  expect((await pilotlight(['call', 'users.current'], around)).code).toBe(0);
  // The daemon's configuration is its environment alone.
  expect((await pilotlight(['check'], around)).stderr).toContain('PILOTLIGHT_API_KEY: is not set');

  const env = { API_KEY: 'k', BASE_URL: emulator.url };
  const { stderr: beside } = await pilotlight(login, { ...around, env, stdin: emulator.apiKey });
  expect(beside).toBe('PILOTLIGHT_API_KEY is set, and wins over it.\n');

  expect((await pilotlight(['logout'], around)).stdout).toBe('Removed the key that was stored as default.\n');
  expect(() => readFileSync(fileIn(folder.path))).toThrow('ENOENT');
  const { code, stderr } = await pilotlight(['user', 'current'], around);
  expect(code).toBe(2);
  expect(stderr).toContain('Or store a key once: pilotlight login --base-url URL');
});

test('profiles stand side by side; the environment wins, and is never mixed with one', async () => {
  using folder = temporaryFolder();
  const [configFolder, BASE_URL] = [folder.path, emulator.url];
  const around = { configFolder, env: { BASE_URL }, stdin: `${emulator.apiKey}\n` };
  expect((await pilotlight(['login'], around)).code).toBe(0);
  expect((await pilotlight(['login', '--profile', 'work'], around)).code).toBe(0);
  expect((await pilotlight(['user', 'current', '--profile', 'work'], { configFolder })).code).toBe(0);

  const env = { BASE_URL, API_KEY: 'another' };
  const refused = await pilotlight(['user', 'current'], { configFolder, env });
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('401') });
  const both = await pilotlight(['user', 'current', '--profile', 'work'], { configFolder, env });
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('are both given') });
  const unknown = await pilotlight(['user', 'current', '--profile', 'home'], { configFolder });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no key is stored as home (stored: default, work)'),
  });
  // One that is no profile, whatever objects have of that name.
  expect(await pilotlight(['logout', '--profile', 'toString'], { configFolder })).toMatchObject({ code: 2 });
  const all = await pilotlight(['logout', '--all'], { configFolder });
  expect(all.stdout).toMatch(/stored as default\.\n.*stored as work\.\n$/);
  expect((await pilotlight(['logout'], { configFolder })).code).toBe(2);
});

test('a stored key goes to no address but its own', async () => {
  using folder = temporaryFolder();
  await using other = await startEmulator();
  const around = { configFolder: folder.path };
  await logIn(folder.path);
  for (const variable of ['BASE_URL', 'SERVERLESS_URL']) {
    const env = { [variable]: other.url };
    const { code, stderr } = await pilotlight(['logs', '7'], { ...around, env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('the stored key goes to no other address')]);
  }
  expect(other.journal.entries()).toEqual([]);
});

test('a key that is refused, or not given, is not stored', async () => {
  using folder = temporaryFolder();
  const around = { configFolder: folder.path, stdin: 'not-a-key' };
  const wrong = await logIn(folder.path, 'not-a-key');
  expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('Nothing was stored.')]);
  expect((await logIn(folder.path, '')).code).toBe(2);
  const nowhere = await typed('login', around);
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('PILOTLIGHT_BASE_URL')]);
  expect((await typed('login --base-url http://127.0.0.1:1', around)).code).toBe(3);
  const homeless = await typed(`login --base-url ${emulator.url}`, { stdin: 'k' });
  expect([homeless.code, homeless.stderr]).toEqual([2, expect.stringContaining('set HOME')]);
  expect(() => readFileSync(fileIn(folder.path))).toThrow('ENOENT');
});

test('a key on the command line is not repeated', async () => {
  using folder = temporaryFolder();
  for (const word of ['sekret', '--api-key=sekret']) {
    const { code, stderr } = await pilotlight(['login', word], { configFolder: folder.path });
    expect([code, stderr]).toEqual([2, expect.not.stringContaining('sekret')]);
  }
});

test('a file that is kept elsewhere is written and removed there', async () => {
  using folder = temporaryFolder();
  const [path, kept] = [fileIn(folder.path), join(folder.path, 'kept.json')];
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(kept, '{}');
  symlinkSync(kept, path);
  const around = { configFolder: folder.path };
  await logIn(folder.path);
  expect(readFileSync(kept, 'utf8')).toContain(emulator.apiKey);
  await pilotlight(['logout'], around);
  expect([existsSync(kept), existsSync(path)]).toEqual([false, false]);
});

test('a folder that cannot be made or read is named', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  const { code, stderr } = await logIn(file);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: .*\/default\.json: E/)]);
  expect((await pilotlight(['logout'], { configFolder: file })).stderr).toContain('(stored: none)');
});

test('a damaged file is named, and its text is not repeated', async () => {
  using folder = temporaryFolder();
  const around = { configFolder: folder.path };
  await logIn(folder.path);
  for (const text of ['{"apiKey":"sekret"', '{"apiKey":"sekret"}', '[]']) {
    writeFileSync(fileIn(folder.path), text);
    const { code, stderr } = await pilotlight(['user', 'current'], around);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`${fileIn(folder.path)}: not a stored login`),
    ]);
    expect(stderr).not.toContain('sekret');
  }
});
