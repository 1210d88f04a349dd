/** A question on the terminal whose answer is not shown: codes and secrets. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Rejects when the signal fires, and at Ctrl-C or Ctrl-D. */
export async function askHidden(question: string, signal: AbortSignal): Promise<string> {
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nothing, terminal: true });
  // Only now does the terminal show nothing of what is typed, however fast it comes.
  process.stderr.write(question);
  const ended = new AbortController();
  lines.once('SIGINT', () => ended.abort());
  lines.once('close', () => ended.abort());
  try {
    const answer = await lines.question('', { signal: AbortSignal.any([signal, ended.signal]) });
    return answer.trim();
  } finally {
    process.stderr.write('\n');
    lines.close();
  }
}
