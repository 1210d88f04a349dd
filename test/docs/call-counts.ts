/** Which files of src/ run, by V8's call counts. */
import { Session } from 'node:inspector/promises';

const source = new URL('../../src/', import.meta.url).href;

export class CallCounts {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** Functions that have run since the start, by file. */
  async stop(): Promise<ReadonlyMap<string, readonly string[]>> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    this.#session.disconnect();
    const files = new Map<string, string[]>();
    for (const { url, functions } of result) {
      if (!url.startsWith(source)) continue;
      const ran = functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0);
      const names = ran.map(({ functionName }) => functionName).filter((name) => name !== '');
      if (ran.length > 0) files.set(url.slice(source.length), names);
    }
    return files;
  }
}

export function printFiles(files: ReadonlyMap<string, readonly string[]>): void {
  for (const [file, names] of files) console.log(`${file}: ${names.join(', ')}`);
  console.log(`${files.size} files`);
}
