/** The API key: from the environment, or from a file that is read again after a refusal. */
import { readSlowFile, refuseIrregular } from './slow-file.ts';

export interface ApiKey {
  current(): string;
  file(): string | undefined;
  /** Rejects, and keeps the key, if the file cannot be read or holds no key. */
  reread(signal: AbortSignal): Promise<string>;
  replace(key: string, file: string | undefined): void;
}

export function createApiKey(initial: string, initialFile: string | undefined): ApiKey {
  let key = initial;
  let file = initialFile;
  return {
    current: () => key,
    file: () => file,
    async reread(signal) {
      if (file === undefined) return key;
      const text = (await readSlowFile(file, refuseIrregular, signal)).trim();
      const problem = keyProblem(text);
      if (problem !== undefined) throw new Error(`the API key ${problem}`);
      key = text;
      return key;
    },
    replace(newKey, newFile) {
      [key, file] = [newKey, newFile];
    },
  };
}

/** Why a text cannot be an API key, which is visible ASCII. The sentence's end does not quote it. */
export function keyProblem(text: string): string | undefined {
  const key = text.trim();
  if (key === '') return 'is empty';
  const index = key.search(/[^!-~]/);
  if (index === -1) return undefined;
  return `has ${kindOf(key.charCodeAt(index))} at character ${index + 1} of ${key.length}`;
}

function kindOf(code: number): string {
  if (code === 0x0a || code === 0x0d) return 'a line break';
  if (code === 0x20) return 'a space';
  if (code === 0x09) return 'a tab';
  return code < 0x20 || code === 0x7f ? 'a control character' : 'a character that is not ASCII';
}
