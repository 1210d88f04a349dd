/**
 * Notices files that change, by polling: a Secret in a pod is replaced by switching a symbolic link, and network file
 * systems report no changes at all.
 */
import { statSlowFile } from '../client/slow-file.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * `onChange` is also called after the first look, since it is not known whether what was read before is what lies there
 * now: `fs.watchFile` would never tell of a change between the two.
 *
 * @returns What ends the watching.
 */
export function watchFiles(
  paths: Iterable<string>,
  onChange: () => void,
  everyMs: number = LOOK_EVERY_MS,
): () => void {
  const watched = [...new Set(paths)];
  let known = '';
  let timer: NodeJS.Timeout | undefined;
  let isEnded = watched.length === 0;
  // The next look is planned when one is done: where a file system hangs, no more than one waits for it.
  const plan = (): void => {
    if (!isEnded) timer = setTimeout(() => void look().then(plan), everyMs).unref();
  };
  const look = async (): Promise<void> => {
    const found = (await Promise.all(watched.map(stateOf))).join('\n');
    if (isEnded || found === known) return;
    known = found;
    onChange();
  };
  plan();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

/** Another one after each write, and each time that another file takes its place. */
async function stateOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await statSlowFile(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}
