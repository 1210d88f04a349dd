/** A question on the terminal whose answer is not shown: codes and secrets. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Rejects when the signal fires, and at Ctrl-C or Ctrl-D. */
export async function askHidden(
  question: string,
  signal: AbortSignal,
  err: (text: string) => void,
): Promise<string> {
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nothing, terminal: true });
  // From here on the terminal shows nothing of what is typed, so the question may be seen.
  err(question);
  const ended = new AbortController();
  lines.once('SIGINT', () => ended.abort());
  lines.once('close', () => ended.abort());
  try {
    const answer = await lines.question('', { signal: AbortSignal.any([signal, ended.signal]) });
    return answer.trim();
  } finally {
    err('\n');
    lines.close();
  }
}
