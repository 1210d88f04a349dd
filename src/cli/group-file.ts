/** Endpoint groups in JSON: an object of parameters, an array, or the list that the service answers. */
import { isRecord } from '../contract/is-record.ts';
import type { Console } from './console.ts';
import { InputError } from './command-error.ts';

/** `-` is standard input. @throws InputError for a file that cannot be read, or is not JSON */
export function readGroupFile(
  path: string,
  read: Console['read'],
): { readonly groups: readonly unknown[]; readonly isArray: boolean } {
  const text = read(path);
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (cause) {
    // The parser quotes the text around the mistake, and a row holds a key.
    const why = (cause as Error).message.replace(/, (?:\.{3})?".* is not valid JSON$/s, '');
    throw new InputError(`${path}: not JSON: ${why}`);
  }
  const parsed = isRecord(file) && Array.isArray(file['results']) ? (file['results'] as unknown[]) : file;
  return Array.isArray(parsed) ? { groups: parsed, isArray: true } : { groups: [parsed], isArray: false };
}
