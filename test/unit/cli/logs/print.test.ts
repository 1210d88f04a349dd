/** `pilotlight logs --tail N` means lines, whatever the service counts. */
import { expect, test } from 'vitest';
import { serve } from '../../../support/local-server.ts';
import { pilotlight } from '../../../support/console.ts';
import { startRawLogServer } from '../../../support/raw-log-server.ts';

const lines = Array.from({ length: 300 }, (_, index) => `request ${index} ist größer als 模型 ${index * 7}`);

test.each([
  ['lines', {}],
  ['bytes', { unit: 'bytes' }],
  ['characters', { unit: 'characters' }],
  ['bytes, and gives 4,000 at most', { unit: 'bytes', givesBytes: 4_000 }],
] as const)('of a service that counts %s', async (_name, options) => {
  await using server = await startRawLogServer(options);
  server.log.writeLines(lines);
  const env = { API_KEY: 'a-key-of-nobody', BASE_URL: server.url, SERVERLESS_URL: server.url };
  const ran = await pilotlight(['logs', '7', '--tail', '20'], { env });
  expect(ran).toEqual({ code: 0, stdout: `${lines.slice(-20).join('\n')}\n`, stderr: '' });
});

test('an answer that is an error says of which log', async () => {
  await using server = await serve((_, response) => response.end('{"success":true,"msg":"it is\\ngone"}'));
  const env = { API_KEY: 'a-key-of-nobody', BASE_URL: server.url };
  const ran = await pilotlight(['logs', '7'], { env });
  expect(ran).toEqual({ code: 1, stdout: '', stderr: 'error: worker group 7: no logs: it is gone\n' });
});
