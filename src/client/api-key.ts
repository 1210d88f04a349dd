/** The API key as it is now: from the environment, or from a file that is read again when the service refuses it. */

export interface ApiKey {
  current(): string;
  /** The file that it is read from; undefined where it came from the environment. */
  file(): string | undefined;
  /** Reads the file again, where there is one; the key as it is afterwards. Rejects when the file cannot be read. */
  reread(signal: AbortSignal): Promise<string>;
  /** Takes the key of a reloaded configuration. */
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
      // Not loaded before: that takes 2 ms, and the first heartbeat would wait for them.
      const { readFile } = await import('node:fs/promises');
      const text = (await readFile(file, { encoding: 'utf8', signal })).trim();
      // A file that is being replaced may be empty for a moment.
      if (text !== '') key = text;
      return key;
    },
    replace(newKey, newFile) {
      [key, file] = [newKey, newFile];
    },
  };
}
