/** Endpoint groups in JSON files: one object of parameters, or an array of them. */
import { readFileSync } from 'node:fs';
import { InputError } from './input-error.ts';

/** The groups of a file as they are written; `-` is standard input. Throws an InputError. */
export function readGroupFile(path: string): {
  readonly groups: readonly unknown[];
  readonly isArray: boolean;
} {
  const parsed = parse(path, read(path));
  return Array.isArray(parsed) ? { groups: parsed, isArray: true } : { groups: [parsed], isArray: false };
}

function read(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw new InputError(`${path}: ${(cause as Error).message}`, { cause });
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InputError(`${path}: not JSON: ${(cause as Error).message}`, { cause });
  }
}
