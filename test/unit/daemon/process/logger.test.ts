import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { LogLevel } from '../../../../src/config/types/value-types.ts';
import { PilotlightError } from '../../../../src/contract/pilotlight-error.ts';
import { Redaction } from '../../../../src/contract/text/redaction.ts';
import {
  createLogger,
  messageDestination,
  type LoggerOptions,
} from '../../../../src/daemon/process/logger.ts';
import { canMount, smallDisk } from '../../../support/small-disk.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

class Known extends PilotlightError {
  readonly code = 'known';
  readonly actor = 'service';
}

async function logging(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const counted: LogLevel[] = [];
  const logger = await createLogger({
    level: 'info',
    format: 'json',
    redaction: new Redaction(() => ['a-secret-key']),
    onMessage: (level) => counted.push(level),
    destination: { write: (line) => void lines.push(line) },
    ...options,
  });
  return { logger, lines, counted };
}

test('a line of JSON has level, time, the fields and the message in this order, and nothing else', async () => {
  const { logger, lines, counted } = await logging();
  logger.warn({ replica: 'a' }, 'it happened');
  logger.debug('not shown');
  expect(lines).toEqual([
    expect.stringMatching(/^\{"level":"warn","time":"\d{4}-[^"]+Z","replica":"a","msg":"it happened"\}\n$/),
  ]);
  expect(counted).toEqual(['warn']);
});

test('no secret is in a line', async () => {
  const { logger, lines } = await logging();
  logger.error({ why: 'a-secret-key is refused' }, 'the key a-secret-key');
  expect(lines[0]).not.toContain('a-secret-key');
  expect(lines[0]).toContain('is refused');
});

describe('of an error', () => {
  const of = async (error: unknown): Promise<unknown> => {
    const { logger, lines } = await logging();
    logger.error({ err: error }, 'it failed');
    return (JSON.parse(lines[0] ?? '') as { err: unknown }).err;
  };

  test('of ours its code is logged, and no stack', async () => {
    expect(await of(new Known('words'))).toEqual({
      type: 'Known',
      code: 'known',
      actor: 'service',
      message: 'words',
    });
  });

  test('of another the stack is, and no field of its own', async () => {
    const error = Object.assign(new TypeError('a bug'), { headers: { authorization: 'secret' } });
    expect(await of(error)).toEqual({ type: 'TypeError', message: 'a bug', stack: error.stack });
  });

  test('that is none only what it is', async () => {
    expect(await of({ token: 'secret' })).toEqual({ type: 'object' });
  });
});

test.each([
  [true, '\u001B['],
  [false, undefined],
])('a line of text has date and time, and colours on a terminal: %s', async (isTerminal, colour) => {
  const lines: string[] = [];
  const destination = { isTerminal, write: (line: string) => void lines.push(line) };
  const { logger } = await logging({ format: 'text', destination });
  logger.warn({ replica: 'a' }, 'it happened');
  const [line = ''] = lines;
  if (colour) expect(line).toContain(colour);
  else
    expect(line).toMatch(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] WARN: it happened \{"replica":"a"\}\n$/);
});

test.each([
  [true, '[2'],
  [false, '{'],
  [undefined, '{'],
])('auto is text at a terminal, and JSON elsewhere: %s', async (isTerminal, begin) => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const destination = isTerminal === undefined ? { write } : { isTerminal, write };
  const { logger } = await logging({ format: 'auto', destination });
  logger.info('it happened');
  expect(stripVTControlCharacters(lines[0] ?? '').startsWith(begin)).toBe(true);
});

describe('where messages go', () => {
  test('is a descriptor, and the end waits until it has all of them', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'stderr');
    const destination = messageDestination(openSync(path, 'w'));
    expect(destination.isTerminal).toBe(false);
    for (let number = 1; number <= 3; number += 1) destination.write(`line ${number}\n`);
    await destination.end(30_000);
    expect(readFileSync(path, 'utf8')).toBe('line 1\nline 2\nline 3\n');
  });

  test('of nothing the end is at once', async () => {
    using folder = temporaryFolder();
    const destination = messageDestination(openSync(join(folder.path, 'stderr'), 'w'));
    await destination.end(30_000);
    expect(destination.isTerminal).toBe(false);
  });

  test.runIf(canMount)('that is a full disk is heard of again when it has room', async () => {
    using disk = smallDisk(64);
    const path = join(disk.path, 'stderr');
    const destination = messageDestination(openSync(path, 'a'));
    const { logger } = await logging({ destination });
    disk.fill();
    for (let number = 0; number < 1_000; number += 1) logger.warn('x'.repeat(1_000));
    await destination.end(1_000);
    disk.free();
    logger.info('after');
    await destination.end(30_000);
    expect(readFileSync(path, 'utf8')).toMatch(/"dropped":\d+.*\n.*"msg":"after"\}\n$/);
  });

  test('is not waited for for ever, where nobody reads', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const destination = messageDestination(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    for (let number = 0; number < 200; number += 1) destination.write(`${'x'.repeat(1_000)}\n`);
    await destination.end(20);
    closeSync(reader);
  });
});
