/** Characters that a terminal takes for more than text. Pure. */

/** C0 but tab and line feed, DEL, C1, and what turns the direction of text. */
export const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** JSON that may be shown, of which nothing is lost: JSON itself only writes the first of them by their numbers. */
export function legibleJson(json: string): string {
  return json.replaceAll(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Where a line ends, or a terminal jumps within it, with the spaces after it. */
const BREAKS = /[\t\n\u2028\u2029]\s*/g;

/** Text of others as one line in the midst of ours: nothing in it is a command, or begins a line that looks like ours. */
export function inOneLine(text: string): string {
  return text.replaceAll(CONTROLS, '').replaceAll(BREAKS, ' ');
}
