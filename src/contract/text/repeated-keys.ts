/**
 * Keys that one object of a JSON text has twice: JSON.parse takes the last of them and says nothing, while the person
 * who wrote it goes by the first.
 * @param json What JSON.parse takes
 * @returns their places, such as `.chat.target_util`
 */
export function repeatedKeys(json: string): string[] {
  const repeated: string[] = [];
  const open: { readonly at: string; readonly keys: Set<string> }[] = [];
  let at = '';
  for (const [token, text, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g)) {
    if (token === '{') open.push({ at, keys: new Set() });
    else if (token === '}') open.pop();
    const object = open.at(-1);
    if (!object || text === undefined || colon === undefined) continue;
    // Written with an escape it is the same key.
    const key = JSON.parse(text) as string;
    at = `${object.at}.${key}`;
    if (object.keys.has(key)) repeated.push(at);
    object.keys.add(key);
  }
  return repeated;
}
