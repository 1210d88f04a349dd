/** A copy of the tree in which code may be broken, and the tests be run against it. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/optional.ts';

/** `overtime`: they were ended because they took too long, as a loop without an end does. */
export type Verdict = 'noticed' | 'overtime' | 'unnoticed';

const PARTS = ['src', 'test', '.config', '.github', 'deploy', 'package.json', 'tsconfig.json', 'README.md'];

export class Sandbox implements Disposable {
  readonly #path = mkdtempSync(join(tmpdir(), 'pilotlight-mutation-'));

  constructor() {
    for (const part of PARTS) cpSync(join(root, part), join(this.#path, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#path, 'node_modules'));
  }

  /** Runs tests while a file has another text; `args` are those of vitest, and `limitMs` is for all of them. */
  async verdictOf(file: string, text: string, args: readonly string[], limitMs: number): Promise<Verdict> {
    const path = join(this.#path, file);
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, text);
    try {
      return await this.#run(args, limitMs);
    } finally {
      writeFileSync(path, before);
    }
  }

  textOf(file: string): string {
    return readFileSync(join(this.#path, file), 'utf8');
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { recursive: true, force: true });
  }

  #run(args: readonly string[], limitMs: number): Promise<Verdict> {
    const all = ['run', '--config', 'test/vitest.config.ts', '--bail', '1', ...args];
    const program = join(root, 'node_modules/.bin/vitest');
    // A group of its own, so that what the tests have started ends with them.
    const child = spawn(program, all, { cwd: this.#path, stdio: 'ignore', detached: true });
    const group = -(child.pid ?? 0);
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      if (group < 0) process.kill(group, 'SIGKILL');
    }, limitMs);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => {
        clearTimeout(timer);
        resolve(isOver ? 'overtime' : code === 0 ? 'unnoticed' : 'noticed');
      });
    });
  }
}
