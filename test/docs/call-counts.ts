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
  async print(): Promise<void> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    this.#session.disconnect();
    let files = 0;
    for (const { url, functions } of result) {
      const ran = functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0);
      if (!url.startsWith(source) || ran.length === 0) continue;
      files += 1;
      const names = ran.map(({ functionName }) => functionName).filter((name) => name !== '');
      console.log(`${url.slice(source.length)}: ${names.join(', ')}`);
    }
    console.log(`${files} files`);
  }
}
