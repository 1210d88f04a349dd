/**
 * A program that shares no page with any other process: a copy of its binary and of the libraries that it loads.
 *
 * Linux keeps a file's pages once for all processes that map it, and the proportional set size gives each its part of
 * them. Where nobody else runs the copy, its pages count whole, as on a machine where the program is alone, whatever
 * else runs on this one: the benchmark itself, the emulator, somebody's tests.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';

export interface ProgramCopy extends Disposable {
  readonly path: string;
  /** With it in the environment the copy loads the copies of its libraries, and so do its children. */
  readonly env: { readonly LD_LIBRARY_PATH: string };
}

export function copyProgram(program: string): ProgramCopy {
  const folder = temporaryFolder();
  const binary = realpathSync(program);
  const path = join(folder.path, basename(binary));
  copyFileSync(binary, path);
  // By the names that the loader looks for, which may be links to files with longer ones.
  for (const library of libraries(binary)) copyFileSync(library, join(folder.path, basename(library)));
  return {
    path,
    env: { LD_LIBRARY_PATH: folder.path },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** Shared libraries of a binary, by their paths; none where it has none, or where nobody can tell. */
function libraries(binary: string): string[] {
  const { stdout, status } = spawnSync('ldd', [binary], { encoding: 'utf8' });
  return status === 0 ? [...stdout.matchAll(/=> (\/\S+) \(/g)].map(([, library = '']) => library) : [];
}
