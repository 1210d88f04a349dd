import { expect, test } from 'vitest';
import { credentialsOf } from '../../../src/config/credentials.ts';

test('a credential is what opens something: keys, passwords in addresses, headers that authorize', () => {
  const found = credentialsOf(
    {
      apiKey: 'key-of-the-start',
      appHealth: 'http://app:health-word@127.0.0.1:8000/health',
      metricsToken: 'metrics-token',
      redisUrl: 'redis://user:redis%2Fword@redis:6379/0',
      otlpHeaders: { authorization: 'Basic dXNlcjpvdGxwLXdvcmQ=', 'x-scope-orgid': '1' },
    },
    'key-of-now',
    { HTTPS_PROXY: 'http://me:proxy-word@proxy:3128' },
  );
  expect(found).toEqual(
    expect.arrayContaining([
      'key-of-now',
      'key-of-the-start',
      'metrics-token',
      'health-word',
      'redis%2Fword',
      'redis/word',
      'proxy-word',
      'Basic dXNlcjpvdGxwLXdvcmQ=',
      'otlp-word',
    ]),
  );
  expect(found).not.toContain('1');
  expect(found).not.toContain('');
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
