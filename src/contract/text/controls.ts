/** Characters that control a terminal: C0 but tab and line feed, DEL, C1, and text direction. */
export const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** JSON.stringify escapes only the first of them. */
export function legibleJson(json: string): string {
  return json.replaceAll(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Line breaks and tabs, with the spaces after them. */
const BREAKS = /[\t\n\u2028\u2029]\s*/g;

/** Foreign text as one line: nothing in it is a command, or looks like a line of ours. */
export function inOneLine(text: string): string {
  return text.replaceAll(CONTROLS, '').replaceAll(BREAKS, ' ');
}
