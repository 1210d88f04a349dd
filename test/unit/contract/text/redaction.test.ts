import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { REDACTED, Redaction } from '../../../../src/contract/text/redaction.ts';
import { leaks, WRITINGS } from '../../../support/secret-writings.ts';

/** Of a secret nothing of this length may be left, however it is written. */
const TELLING = 8;

/** Visible ASCII, as a key is, with what JSON, addresses and patterns find special in it. */
const secrets = fc
  .string({
    unit: fc.constantFrom(...Array.from('abcXYZ019-_.~!*()\'"\\/%+&=?#$^[]{}|:;,<> @')),
    minLength: 8,
    maxLength: 40,
  })
  // What is no more than what a text has anyway can be no secret.
  .filter((secret) => /^\S.*\S$/.test(secret) && new Set(secret).size > 4 && !REDACTED.includes(secret));
const around = fc.string({ unit: fc.constantFrom(...Array.from('gh \n"\\{}[]:,%é✓')), maxLength: 12 });

describe('a secret that is known', () => {
  test('is in no text, however it was written', () => {
    fc.assert(
      fc.property(secrets, fc.constantFrom(...WRITINGS), around, around, (secret, write, before, after) => {
        const redaction = new Redaction(() => [secret]);
        const clean = redaction.text(before + write(secret) + after);
        expect(leaks(clean, secret)).toBe(false);
        expect(clean).toContain(REDACTED);
      }),
    );
  });

  test('is in no JSON, wherever it stood, and the JSON can be read as before', () => {
    const value = (secret: string): fc.Arbitrary<unknown> =>
      fc.letrec((tie) => ({
        leaf: fc.oneof(
          fc.constantFrom(...WRITINGS).map((write) => write(secret)),
          fc.tuple(around, around).map((two) => two.join(secret)),
          fc.integer({ max: 99_999 }),
          fc.constant(null),
        ),
        node: fc.oneof(
          { maxDepth: 3 },
          tie('leaf'),
          fc.array(tie('node'), { maxLength: 3 }),
          fc.dictionary(fc.constantFrom('msg', 'err', 'status', `x ${secret}`), tie('node'), { maxKeys: 3 }),
        ),
      })).node;
    fc.assert(
      fc.property(
        secrets.chain((secret) => fc.tuple(fc.constant(secret), value(secret), around)),
        ([secret, body, message]) => {
          const line = `${JSON.stringify({ level: 'error', msg: message + secret, body })}\n`;
          const clean = new Redaction(() => [secret]).json(line);
          expect(clean.endsWith('}\n')).toBe(true);
          const read = JSON.parse(clean) as Record<string, unknown>;
          expect(Object.keys(read)).toEqual(['level', 'msg', 'body']);
          expect(read['level']).toBe('error');
          expect(leaks(clean, secret)).toBe(false);
        },
      ),
    );
  });

  test('is in no label of a metric, and names stay', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const label = JSON.stringify(secret).slice(1, -1);
        const text = `# HELP pilotlight_jobs Jobs.\npilotlight_jobs{job="a ${label}",x="y"} 1\n`;
        const clean = new Redaction(() => [secret]).metrics(text);
        expect(clean).toBe(`# HELP pilotlight_jobs Jobs.\npilotlight_jobs{job="a ${REDACTED}",x="y"} 1\n`);
      }),
    );
  });

  test('of two that lie over one another nothing is left', () => {
    const redaction = new Redaction(() => ['abcdefgh', 'efghijkl', 'abababab']);
    expect(redaction.text('x abcdefghijkl y')).toBe(`x ${REDACTED} y`);
    expect(redaction.text('x ababababab y')).toBe(`x ${REDACTED} y`);
    expect(redaction.text('abababab abcdefghefghijkl')).toBe(`${REDACTED} ${REDACTED}`);
  });

  test('that was cut off is not shown either, down to the last eight characters of its beginning', () => {
    const secret = 'sk-very-secret-5f1c9a';
    const redaction = new Redaction(() => [secret]);
    for (let length = TELLING; length <= secret.length; length += 1) {
      const part = secret.slice(0, length);
      expect(redaction.json(JSON.stringify({ msg: `bad key ${part}` }))).toBe(
        `{"msg":"bad key ${REDACTED}"}`,
      );
      expect(redaction.text(`bad key ${part}… (90 characters)`)).toBe(`bad key ${REDACTED}… (90 characters)`);
    }
    expect(redaction.text('sk-very-small')).toBe('sk-very-small');
  });

  test('stays one after it was rotated away', () => {
    let key = 'first-key-0001';
    const redaction = new Redaction(() => [key]);
    redaction.text('');
    key = 'second-key-0002';
    expect(redaction.text('first-key-0001 second-key-0002')).toBe(`${REDACTED} ${REDACTED}`);
  });

  test('of thousands of characters, for which no one pattern is small enough, is cut out too', () => {
    const unit = fc.constantFrom(...Array.from('aZ0-_~!*\'"\\/%+&= .'));
    const long = fc.string({ unit, minLength: 6_000, maxLength: 6_000 });
    const [secret = ''] = fc.sample(long, { numRuns: 1, seed: 1 });
    const redaction = new Redaction(() => [secret]);
    expect(redaction.text(`before ${secret} after`)).toBe(`before ${REDACTED} after`);
    // A way of writing may put a few characters around it.
    for (const write of WRITINGS) expect(redaction.text(write(secret)).length).toBeLessThan(100);
  });

  test('of fewer than eight characters is a word like others', () => {
    expect(new Redaction(() => ['heart', '']).text('the heart beats')).toBe('the heart beats');
  });
});

describe('a code of two-factor authentication', () => {
  const redaction = new Redaction(() => []);
  test.each([
    ['{"code":"123456"}', `{"code":"${REDACTED}"}`],
    ['{"code":123456}', `{"code":"${REDACTED}"}`],
    ['{"err":{"tfa_code":"123456","codes":["x"]}}', `{"err":{"tfa_code":"${REDACTED}","codes":["x"]}}`],
    ['{"otp":["123456","654321"]}', `{"otp":["${REDACTED}","${REDACTED}"]}`],
    ['{"msg":"refused: {\\"code\\":\\"123456\\"}"}', `{"msg":"refused: {\\"code\\":\\"${REDACTED}\\"}"}`],
    ['{"msg":"code=123456&method=sms"}', `{"msg":"code=${REDACTED}&method=sms"}`],
  ])('%s becomes %s', (line, clean) => {
    expect(redaction.json(line)).toBe(clean);
  });

  test.each(['{"code":"ECONNREFUSED","msg":"took 123456 ms"}', '{"exit_code":3}', '{"code":1234567}'])(
    '%s stays as it is',
    (line) => {
      expect(redaction.json(line)).toBe(line);
    },
  );
});
