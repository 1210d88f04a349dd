import { expect, test } from 'vitest';
import { redactedSettings } from '../../../src/config/describe.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { describeProblem } from '../../../src/config/problem.ts';

const MINIMAL = { PILOTLIGHT_API_KEY: 'secret-key', PILOTLIGHT_BASE_URL: 'https://service.example' };

function load(address: string, grace?: string) {
  return loadConfig({
    ...MINIMAL,
    PILOTLIGHT_APP_HEALTH: address,
    ...(grace !== undefined && { PILOTLIGHT_APP_GRACE: grace }),
  });
}

test.each([
  'http://127.0.0.1:8000/health',
  'http://localhost',
  'https://me:secret%40@app.example:8443/ready?token=t0ken',
  'tcp://127.0.0.1:5432',
  'tcp://[::1]:80/',
])('the app may be at %s', (address) => {
  const { settings, problems } = load(address);
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({ appHealth: address, appGrace: 600_000 });
});

test.each([
  ['127.0.0.1:8000', 'it is no address'],
  ['localhost:8000', 'localhost:// is not asked'],
  ['unix:/run/app.sock', 'unix:// is not asked'],
  ['tcp:80', 'it names no host'],
  ['ftp://127.0.0.1/', 'ftp:// is not asked'],
  ['tcp://127.0.0.1', 'it names no port'],
  ['tcp://127.0.0.1:80/health', 'tcp has nothing beside host and port'],
  ['http://127.0.0.1:8000/#up', 'a fragment is never sent'],
  ['http://me:50%@127.0.0.1/', 'a percent sign in user or password encodes nothing'],
])('without %s the deployments are kept alive whatever happens: %s', (address, why) => {
  const { settings, problems } = load(address);
  expect(settings).toMatchObject({ appHealth: undefined });
  expect(problems.map((problem) => describeProblem(problem))).toEqual([
    expect.stringMatching(/^error: PILOTLIGHT_APP_HEALTH: .*; the default is used$/),
  ]);
  expect(describeProblem(problems[0]!)).toContain(why);
});

test('credentials in it are shown nowhere', () => {
  const { settings } = load('https://me:secret@app.example/ready?token=t0ken');
  expect(redactedSettings(settings!)['PILOTLIGHT_APP_HEALTH']).toBe('https://…@app.example/ready?…');
  const [problem] = load('ftp://me:secret@app.example/?token=t0ken').problems;
  expect(JSON.stringify(problem)).not.toMatch(/secret|t0ken/);
});

test('a grace has five seconds at least', () => {
  expect(load('tcp://a:1', '5s').settings).toMatchObject({ appGrace: 5_000 });
  expect(load('tcp://a:1', '4s').settings).toMatchObject({ appGrace: 600_000 });
});
