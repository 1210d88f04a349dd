/** Text of others as a terminal may show it: nothing in it is a command, or moves what stands beside it. */
import { stripVTControlCharacters } from 'node:util';

/** C0 but tab and line feed, DEL, C1, and what turns the direction of text. */
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

export function legible(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROLS, '');
}

/** The same of JSON, of which nothing is lost. */
export function legibleJson(json: string): string {
  return json.replaceAll(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
