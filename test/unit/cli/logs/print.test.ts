/** `pilotlight logs --tail N` means lines, whatever the service counts. */
import { expect, test } from 'vitest';
import { printLog } from '../../../../src/cli/logs/print.ts';
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
  const printed: string[] = [];
  const connection = { baseUrl: server.url, serverlessUrl: server.url, apiKey: 'a-key-of-nobody' };
  const console = { out: (text: string) => void printed.push(text), err() {}, hasColours: false };
  const code = await printLog(connection, { group: 7, tail: 20, format: {} }, console as never);
  expect(code).toBe(0);
  expect(printed).toEqual(lines.slice(-20));
});
