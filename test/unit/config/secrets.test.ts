import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { credentialsOf } from '../../../src/config/secrets.ts';

test('credentials of settings and environment: the key, token, passwords, and what is in headers', () => {
  const { settings } = loadConfig({
    PILOTLIGHT_API_KEY: 'key',
    PILOTLIGHT_BASE_URL: 'https://console.example.com',
    PILOTLIGHT_APP_HEALTH: 'http://app:health-word@127.0.0.1:8000/health',
    PILOTLIGHT_METRICS_TOKEN: 'metrics-token',
    PILOTLIGHT_REDIS_URL: 'redis://user:p%40ss@redis:6379/0',
    PILOTLIGHT_OTLP_HEADERS: `authorization=Basic%20${btoa('name:otlp-password')},x-scope-orgid=team-a,api-key=otlp-key,x-honeycomb-team=comb`,
  });
  if (settings === undefined) throw new Error('no settings');
  const environment = { HTTPS_PROXY: 'http://me:proxy-password@proxy:3128' };
  const found = credentialsOf(settings, 'rotated-key', environment);
  expect(found.toSorted()).toEqual(
    [
      'key',
      'rotated-key',
      'metrics-token',
      'redis://user:p%40ss@redis:6379/0',
      'p%40ss',
      'p@ss',
      `Basic ${btoa('name:otlp-password')}`,
      btoa('name:otlp-password'),
      'name:otlp-password',
      'otlp-password',
      'otlp-key',
      'comb',
      'proxy-password',
      'health-word',
      // As HTTP sends them.
      btoa('user:p@ss'),
      btoa('me:proxy-password'),
      btoa('app:health-word'),
    ].toSorted(),
  );
});

test('of a header that authorizes the value is one, and what stands behind its scheme', () => {
  const headers = { 'x-api-key': 'one-word', authorization: 'Bearer  two words', 'x-scope-orgid': 'tenant' };
  expect(credentialsOf({ apiKey: 'key', otlpHeaders: headers }, 'key', {})).toEqual([
    'key',
    'one-word',
    'Bearer  two words',
    'two words',
  ]);
});

test('a user without a password is one too, and a user beside one is a word like others', () => {
  const found = credentialsOf({ apiKey: 'key' }, 'key', {
    http_proxy: 'http://token-of-proxy@proxy:3128',
    https_proxy: 'http://pilotlight:p%40ssword@proxy:3128',
  });
  const sent = ['token-of-proxy:', 'pilotlight:p@ssword'].map((login) =>
    Buffer.from(login).toString('base64'),
  );
  expect(found).toEqual(['key', 'token-of-proxy', sent[0], 'p%40ssword', 'p@ssword', sent[1]]);
});
