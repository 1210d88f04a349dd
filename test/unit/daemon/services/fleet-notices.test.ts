import { pino } from 'pino';
import { expect, test } from 'vitest';
import { fleetNoticesTo } from '../../../../src/daemon/services/fleet-notices.ts';
import type { FleetNotice } from '../../../../src/fleet/notices.ts';
import { NewerFile } from '../../../../src/storage/database-file.ts';
import { changeOf } from '../../../support/steering.ts';

function lineOf(notice: FleetNotice): Record<string, unknown> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): unknown => lines.push(JSON.parse(line) as Record<string, unknown>);
  const options = { level: 'debug', base: null, timestamp: false, formatters: { level: levelOf } };
  fleetNoticesTo(pino(options, { write }))(notice);
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
const change = changeOf({ id: 4 });
const story = {
  endpoint: 'chat',
  change: 4,
  what: 'cold_workers 5 → 4',
  why: 'cheaper',
  expected: expect.stringContaining('cost an hour 10.00 → 8.00'),
  came: 'it is in force; what comes of it is not known yet',
};

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
    { level: 'warn', err, failures: 1, msg: 'the endpoints could not be listed; it is tried again' },
  ],
  [
    { kind: 'endpoints not listed', error, failures: 2 },
    { level: 'debug', err, failures: 2, msg: 'the endpoints could not be listed; it is tried again' },
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
      msg: 'PILOTLIGHT_ENDPOINTS names what no endpoint is called; it is watched as soon as there is one',
    },
  ],
  [
    { kind: 'bounds unwatched', names: ['Chat'], watched: names },
    {
      level: 'warn',
      endpoints: ['Chat'],
      watched: shown,
      msg: 'PILOTLIGHT_AUTOTUNE_BOUNDS names endpoints that are not watched: nothing of them is changed',
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
    { kind: 'look failed', endpoint: 'chat', error, failures: 2 },
    {
      level: 'debug',
      endpoint: 'chat',
      err,
      failures: 2,
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
      msg: 'the history of endpoints cannot be stored; the last minutes of it are held, and it is tried again',
    },
  ],
  [
    { kind: 'history not stored', error: new NewerFile(9, 2) },
    {
      level: 'error',
      err: expect.objectContaining({ code: 'newer_file' }),
      msg: 'the history of endpoints is of a newer Pilotlight: it is left as it is, and nothing is added to it',
    },
  ],
  [{ kind: 'history stored again' }, { level: 'info', msg: 'the history of endpoints can be stored again' }],
  [
    { kind: 'parameters steered', endpoint: 'chat', change },
    { level: 'info', ...story, msg: 'parameters of an endpoint are being changed' },
  ],
  [
    { kind: 'old values go back', endpoint: 'chat', change },
    { level: 'warn', ...story, msg: 'a change of parameters is taken back: its old values are being sent' },
  ],
  [
    { kind: 'steering ended', endpoint: 'chat', change, outcome: 'kept' },
    { level: 'info', ...story, outcome: 'kept', msg: 'a change of parameters is over' },
  ],
  [
    { kind: 'steering ended', endpoint: 'chat', change, outcome: 'refused' },
    { level: 'warn', ...story, outcome: 'refused', msg: 'a change of parameters is over' },
  ],
  [
    { kind: 'change unwatched', endpoint: 'chat', change },
    {
      level: 'warn',
      ...story,
      msg: 'a change of parameters is in force and not watched any more: put its old values back by hand, or let it be watched again',
    },
  ],
  [
    { kind: 'changed by hand', endpoint: 'chat' },
    {
      level: 'info',
      endpoint: 'chat',
      msg: 'somebody changed parameters of an endpoint: they stay, and nothing is changed for a day',
    },
  ],
  [
    { kind: 'steering failed', endpoint: 'chat', error },
    { level: 'warn', endpoint: 'chat', err, msg: 'an endpoint could not be steered; it is tried again' },
  ],
])('%o is one line of the log', (notice, line) => {
  expect(lineOf(notice)).toEqual(line);
});
