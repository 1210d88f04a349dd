import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createApiKey, keyProblem } from '../../../src/client/api-key.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('what cannot be a key', () => {
  test.each<[text: string, problem: string | undefined]>([
    ['abc123', undefined],
    ['  \tabc-._~+/=!"\u007e\r\n', undefined],
    ['\ufeffabc\u00a0', undefined],
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['s3cret\ns3cret\n', 'has a line break at character 7 of 13'],
    ['s3cret\r', undefined],
    ['s3\rcret', 'has a line break at character 3 of 7'],
    ['s3 cret', 'has a space at character 3 of 7'],
    ['s3\tcret', 'has a tab at character 3 of 7'],
    ['s3cret\u0000', 'has a control character at character 7 of 7'],
    ['s3\u007fcret', 'has a control character at character 3 of 7'],
    ['s3cr\u00e9t', 'has a character that is not ASCII at character 5 of 6'],
    ['s3cr\u200bet', 'has a character that is not ASCII at character 5 of 7'],
    ['\u{1f511}', 'has a character that is not ASCII at character 1 of 2'],
  ])('%j: %s', (text, problem) => {
    expect(keyProblem(text)).toBe(problem);
  });

  test('what passes is taken by a header, and what does not pass is not quoted', () => {
    for (let code = 0; code < 0x180; code += 1) {
      const key = `left${String.fromCharCode(code)}right`;
      const problem = keyProblem(key);
      if (problem === undefined) expect(() => new Headers({ authorization: `Bearer ${key}` })).not.toThrow();
      else expect(problem).not.toMatch(/left|right/);
    }
  });
});

describe('a key that is read again', () => {
  const { signal } = new AbortController();
  function keyFile() {
    const folder = temporaryFolder();
    const file = join(folder.path, 'key');
    const write = (text: string): void => writeFileSync(file, text);
    write('first\n');
    return {
      file,
      write,
      key: createApiKey('first', file),
      [Symbol.dispose]: () => folder[Symbol.dispose](),
    };
  }

  test('is taken without the white space around it', async () => {
    using at = keyFile();
    at.write(' second\r\n');
    expect([await at.key.reread(signal), at.key.current()]).toEqual(['second', 'second']);
  });

  test('stays what it was where the file holds what cannot be one, and the error says why, not what', async () => {
    using at = keyFile();
    at.write('s3cr\u200bet\n');
    const error: unknown = await at.key.reread(signal).catch((reason: unknown) => reason);
    expect(String(error)).toContain('the API key has a character that is not ASCII at character 5');
    expect(String(error)).not.toContain('s3cr');
    expect(at.key.current()).toBe('first');
    at.write('second');
    expect(await at.key.reread(signal)).toBe('second');
  });

  test('stays the old one if the file is blank, missing or a folder', async () => {
    using at = keyFile();
    at.write('\n');
    await expect(at.key.reread(signal)).rejects.toThrow('the API key is empty');
    expect(at.key.current()).toBe('first');
    rmSync(at.file);
    mkdirSync(at.file);
    await expect(at.key.reread(signal)).rejects.toThrow('it is a folder');
    rmSync(at.file, { recursive: true });
    await expect(at.key.reread(signal)).rejects.toThrow('ENOENT');
  });

  test('may come from elsewhere: then nothing is read', async () => {
    using at = keyFile();
    at.write('second');
    at.key.replace('third', undefined);
    expect([await at.key.reread(signal), at.key.file()]).toEqual(['third', undefined]);
    at.key.replace('fourth', at.file);
    expect([at.key.current(), at.key.file()]).toEqual(['fourth', at.file]);
    expect(await at.key.reread(signal)).toBe('second');
  });
});
