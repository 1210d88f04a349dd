/** A `systemd-notify` that is found before the real one, and notes what it is told. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Waits for a line from the pipe `gate` where there is one, and fails where there is `fails`. */
const PROGRAM = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$*" >> begun
[ -p gate ] && read -r line < gate
[ -e fails ] && exit 1
echo "$*" >> ended
`;

export class NotifyProgram implements Disposable {
  readonly #folder = temporaryFolder();
  readonly #path = process.env['PATH'];
  #gate: number | undefined;

  constructor() {
    const program = this.#within('systemd-notify');
    writeFileSync(program, PROGRAM);
    chmodSync(program, 0o755);
    process.env['PATH'] = `${this.#folder.path}:${this.#path}`;
  }

  /** Messages whose program has begun, and those whose program has ended well. */
  readonly begun = (): string[] => this.#lines('begun');
  readonly ended = (): string[] => this.#lines('ended');

  set fails(fails: boolean) {
    if (fails) writeFileSync(this.#within('fails'), '');
    else rmSync(this.#within('fails'));
  }

  close(): void {
    execFileSync('mkfifo', [this.#within('gate')]);
    // Open for both, so that what is written stays until it is read.
    this.#gate = openSync(this.#within('gate'), 'r+');
  }

  open(): void {
    rmSync(this.#within('gate'));
    if (this.#gate !== undefined) writeSync(this.#gate, 'go\n'.repeat(10));
  }

  [Symbol.dispose](): void {
    process.env['PATH'] = this.#path;
    if (this.#gate !== undefined) closeSync(this.#gate);
    this.#folder[Symbol.dispose]();
  }

  #within(name: string): string {
    return join(this.#folder.path, name);
  }

  /** Whole ones: a file is made before its first line is written. */
  #lines(name: string): string[] {
    const path = this.#within(name);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  }
}
