import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { LogLevel } from '../../../../src/config/value-types.ts';
import { PilotlightError } from '../../../../src/contract/pilotlight-error.ts';
import { Redaction } from '../../../../src/contract/text/redaction.ts';
import { createLogger, type LoggerOptions } from '../../../../src/daemon/process/logger.ts';

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
