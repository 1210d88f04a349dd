import { expect, test } from 'vitest';
import { refusalOfForeign } from '../../../../src/daemon/http/access.ts';

const HOST = '127.0.0.1:9848';

test.each([
  ['a program', { host: HOST }],
  ['a program, by name', { host: 'localhost:9848' }],
  ['an address typed into the address bar', { host: HOST, 'sec-fetch-site': 'none' }],
  ['a page of its own', { host: HOST, origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }],
])('over TCP %s is answered', (_, headers) => {
  expect(refusalOfForeign(headers, false)).toBeUndefined();
});

test.each([
  ['a page of another origin', { host: HOST, origin: 'https://evil.example' }],
  ['the same address over TLS', { host: HOST, origin: `https://${HOST}` }],
  ['a page without an origin, as a sandboxed frame is', { host: HOST, origin: 'null' }],
  [
    'a request of another site without an Origin, as an image is',
    { host: HOST, 'sec-fetch-site': 'cross-site' },
  ],
  ['a request of the same site and another origin', { host: HOST, 'sec-fetch-site': 'same-site' }],
  ['a word for the site that nobody knows', { host: HOST, 'sec-fetch-site': 'none, same-origin' }],
  ['a name that was rebound to this machine', { host: 'evil.example:9848' }],
  ['a name that only begins as a loopback address', { host: '127.0.0.1.evil.example' }],
  ['a name in front of a loopback address', { host: 'evil.example@127.0.0.1' }],
  ['no host', {}],
])('over TCP %s is refused', (_, headers) => {
  expect(refusalOfForeign(headers, false)).toMatch(/answered here$/);
});

test('on a socket file any Host is fine, and no origin', () => {
  expect(refusalOfForeign({ host: 'pilotlight' }, true)).toBeUndefined();
  expect(refusalOfForeign({}, true)).toBeUndefined();
  expect(refusalOfForeign({ host: 'pilotlight', origin: 'http://pilotlight' }, true)).toContain('origin');
  expect(refusalOfForeign({ host: 'pilotlight', 'sec-fetch-site': 'cross-site' }, true)).toContain('site');
});
