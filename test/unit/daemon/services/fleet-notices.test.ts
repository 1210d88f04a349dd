import { pino } from 'pino';
import { expect, test } from 'vitest';
import { fleetNoticesTo } from '../../../../src/daemon/services/fleet-notices.ts';
import type { FleetNotice } from '../../../../src/fleet/view.ts';
import { NewerFile } from '../../../../src/storage/database-file.ts';

const names = Array.from({ length: 25 }, (_, index) => `endpoint ${index}`);
const shown = names.slice(0, 20);
const error = new Error('no answer');
const err = expect.objectContaining({ message: 'no answer' }) as unknown;
const notListed = { kind: 'endpoints not listed', error, failures: 1 } as const;
const lookFailed = { kind: 'look failed', endpoint: 'chat', error, failures: 1 } as const;
const look = { endpoint: 'chat', err };
const path = '/state/fleet.sqlite.corrupt';

test.each<[FleetNotice, level: string, msg: string, fields: object]>([
  [
    { kind: 'endpoints changed', begun: names, left: ['old'] },
    'info',
    'watched endpoints changed',
    { begun: shown, left: ['old'], begunCount: 25, leftCount: 1 },
  ],
  [
    { kind: 'endpoints changed', begun: [], left: names },
    'info',
    'watched endpoints changed',
    { begun: [], left: shown, begunCount: 0, leftCount: 25 },
  ],
  [notListed, 'warn', 'listing endpoints failed; retrying', { err, failures: 1 }],
  [{ ...notListed, failures: 3 }, 'debug', 'listing endpoints failed; retrying', { err, failures: 3 }],
  [
    { kind: 'endpoints listed again', failures: 3 },
    'info',
    'the endpoints could be listed again',
    { failures: 3 },
  ],
  [
    { kind: 'endpoints unknown', names },
    'warn',
    'no endpoint has this name of PILOTLIGHT_ENDPOINTS',
    { endpoints: shown },
  ],
  [lookFailed, 'warn', 'the workers of an endpoint could not be looked at', { ...look, failures: 1 }],
  [{ ...lookFailed, failures: 3 }, 'debug', 'the workers of an endpoint could not', { ...look, failures: 3 }],
  [
    { kind: 'look succeeded again', endpoint: 'chat', failures: 7 },
    'info',
    'the workers of an endpoint could be looked at again',
    { endpoint: 'chat', failures: 7 },
  ],
  [{ kind: 'history not stored', error }, 'error', 'the history of endpoints cannot be stored', { err }],
  [
    { kind: 'history not stored', error: new NewerFile(9, 2) },
    'error',
    'the history of endpoints is of a newer Pilotlight',
    { err: expect.objectContaining({ code: 'newer_file' }) as unknown },
  ],
  [
    { kind: 'history set aside', path, error },
    'error',
    'the history of endpoints could not be',
    { err, setAside: path },
  ],
  [{ kind: 'history stored again' }, 'info', 'the history of endpoints can be stored again', {}],
])('%o is one line of the log', (notice, level, msg, fields) => {
  const lines: unknown[] = [];
  const formatters = { level: (label: string) => ({ level: label }) };
  const options = { level: 'debug', base: null, timestamp: false, formatters };
  fleetNoticesTo(pino(options, { write: (line) => lines.push(JSON.parse(line)) }))(notice);
  expect(lines).toEqual([{ level, msg: expect.stringMatching(`^${msg}`) as string, ...fields }]);
});
