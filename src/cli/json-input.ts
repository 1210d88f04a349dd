/** JSON that people give. */
import { isRecord } from '../contract/is-record.ts';
import type { Console } from './console.ts';
import { InputError } from './command-error.ts';

/** Undefined: not one JSON object. Takes a byte order mark. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.trim());
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** One group, an array, or the list that the service answers; `-` is standard input. @throws InputError */
export function readGroupFile(path: string, read: Console['read']) {
  const text = read(path);
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (cause) {
    // The parser quotes the text around the mistake, and a row holds a key.
    const why = (cause as Error).message.replace(/, (?:\.{3})?".* is not valid JSON$/s, '');
    throw new InputError(`${path}: not JSON: ${why}`);
  }
  const listed = isRecord(file) && Array.isArray(file['results']) ? file['results'] : file;
  const isArray = Array.isArray(listed);
  return { groups: (isArray ? listed : [listed]) as readonly unknown[], isArray };
}
