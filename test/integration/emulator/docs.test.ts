import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { openApiDocument } from '../../../src/openapi/document.ts';
import { jsonIn, pilotlight } from '../../support/console.ts';

test('the emulator serves the document with itself as the server; the command prints the same', async () => {
  await using emulator = await startEmulator();
  const served: unknown = await (await fetch(`${emulator.url}/openapi.json`)).json();
  expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument({ baseUrl: emulator.url }))));
  const printed = await pilotlight(['openapi'], { env: { BASE_URL: emulator.url } });
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(jsonIn(printed)).toEqual(served);
});

test('its page loads nothing from anywhere else, and the documentation is no part of the journal', async () => {
  await using emulator = await startEmulator();
  for (const [path, type] of [
    ['/docs', 'text/html'],
    ['/docs/', 'text/html'],
    ['/docs/json', 'application/json'],
    ['/docs/static/swagger-ui.css', 'text/css'],
    ['/docs/static/swagger-ui-bundle.js', 'application/javascript'],
  ] as const) {
    const response = await fetch(emulator.url + path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; [^:]*data:$/);
    const text = await response.text();
    if (type === 'text/html') expect(text).not.toMatch(/https?:\/\//);
  }
  const shown: unknown = await (await fetch(`${emulator.url}/docs/json`)).json();
  expect(shown).toEqual(await (await fetch(`${emulator.url}/openapi.json`)).json());
  expect(emulator.journal.entries()).toEqual([]);
  expect((await fetch(`${emulator.url}/docs/..%2f..%2fpackage.json`)).status).toBe(403);
  expect((await fetch(`${emulator.url}/docs/static/none.js`)).status).toBe(404);
});
