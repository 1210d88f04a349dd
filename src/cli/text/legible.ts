/** Text of others as a terminal may show it: nothing in it is a command, or moves what stands beside it. */
import { stripVTControlCharacters } from 'node:util';
import { CONTROLS, inOneLine } from '../../contract/text/controls.ts';

export function legible(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROLS, '');
}

/** The same in one line, for text that stands in a line of ours. */
export function legibleLine(text: string): string {
  return inOneLine(stripVTControlCharacters(text));
}
