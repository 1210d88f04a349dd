/** A process that kills itself, SIGKILL, before or after the nth statement that it has SQLite execute. 0: never. */
import { DatabaseSync, StatementSync } from 'node:sqlite';

export function dieAtStatement(nth: number, when: 'before' | 'after'): void {
  let statements = 0;
  function kill(moment: string): void {
    if (when === moment && statements === nth) process.kill(process.pid, 'SIGKILL');
  }
  for (const [prototype, name] of [
    [DatabaseSync.prototype, 'exec'],
    [StatementSync.prototype, 'run'],
  ] as const) {
    const original = Reflect.get(prototype, name);
    Reflect.set(prototype, name, function execute(this: unknown, ...args: unknown[]): unknown {
      statements += 1;
      kill('before');
      const result: unknown = Reflect.apply(original, this, args);
      kill('after');
      return result;
    });
  }
}
