import { pino, type Logger } from 'pino';
import { expect, test } from 'vitest';
import { fleetNoticesTo } from '../../../../src/daemon/services/fleet-notices.ts';
import type { FleetNotice } from '../../../../src/fleet/notices.ts';
import { NewerFile } from '../../../../src/storage/database-file.ts';

function lineOf(say: (logger: Logger) => void): Record<string, unknown> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): unknown => lines.push(JSON.parse(line) as Record<string, unknown>);
  const options = { level: 'debug', base: null, timestamp: false, formatters: { level: levelOf } };
  say(pino(options, { write }));
  expect(lines).toHaveLength(1);
  return lines[0] ?? {};
}

function levelOf(level: string): object {
  return { level };
}

const names = Array.from({ length: 25 }, (_, index) => `endpoint ${index}`);
const shown = names.slice(0, 20);
const error = new Error('no answer');
const err = expect.objectContaining({ message: 'no answer' });
test.each<[FleetNotice, object]>([
  [
    { kind: 'endpoints changed', begun: names, left: ['old'] },
    {
      level: 'info',
      begun: shown,
      left: ['old'],
      begunCount: 25,
      leftCount: 1,
      msg: 'watched endpoints changed',
    },
  ],
  [
    { kind: 'endpoints changed', begun: [], left: names },
    { level: 'info', begun: [], left: shown, begunCount: 0, leftCount: 25, msg: 'watched endpoints changed' },
  ],
  [
    { kind: 'endpoints not listed', error, failures: 1 },
    { level: 'warn', err, failures: 1, msg: 'listing endpoints failed; retrying' },
  ],
  [
    { kind: 'endpoints not listed', error, failures: 3 },
    { level: 'debug', err, failures: 3, msg: 'listing endpoints failed; retrying' },
  ],
  [
    { kind: 'endpoints listed again', failures: 3 },
    { level: 'info', failures: 3, msg: 'the endpoints could be listed again' },
  ],
  [
    { kind: 'endpoints unknown', names },
    {
      level: 'warn',
      endpoints: shown,
      msg: 'no endpoint has this name of PILOTLIGHT_ENDPOINTS; watching begins when one appears',
    },
  ],
  [
    { kind: 'look failed', endpoint: 'chat', error, failures: 1 },
    {
      level: 'warn',
      endpoint: 'chat',
      err,
      failures: 1,
      msg: 'the workers of an endpoint could not be looked at; that sample is missing',
    },
  ],
  [
    { kind: 'look failed', endpoint: 'chat', error, failures: 3 },
    {
      level: 'debug',
      endpoint: 'chat',
      err,
      failures: 3,
      msg: 'the workers of an endpoint could not be looked at; that sample is missing',
    },
  ],
  [
    { kind: 'look succeeded again', endpoint: 'chat', failures: 7 },
    {
      level: 'info',
      endpoint: 'chat',
      failures: 7,
      msg: 'the workers of an endpoint could be looked at again',
    },
  ],
  [
    { kind: 'history not stored', error },
    {
      level: 'error',
      err,
      msg: 'the history of endpoints cannot be stored; memory holds the last day, and storing is retried',
    },
  ],
  [
    { kind: 'history not stored', error: new NewerFile(9, 2) },
    {
      level: 'error',
      err: expect.objectContaining({ code: 'newer_file' }),
      msg: 'the history of endpoints is of a newer Pilotlight: its file is left as it is, and memory holds the last day',
    },
  ],
  [
    { kind: 'history set aside', path: '/state/fleet.sqlite.corrupt', error },
    {
      level: 'error',
      err,
      setAside: '/state/fleet.sqlite.corrupt',
      msg: 'the history of endpoints could not be read: its file was renamed, and a new one begins',
    },
  ],
  [{ kind: 'history stored again' }, { level: 'info', msg: 'the history of endpoints can be stored again' }],
])('%o is one line of the log', (notice, line) => {
  expect(lineOf((logger) => fleetNoticesTo(logger)(notice))).toEqual(line);
});
