/** How a secret is written, and how it is read again. */

/** Ways in which a secret gets into a text, each of which reads as the secret again. */
export const WRITINGS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => JSON.stringify(JSON.stringify(secret)).slice(1, -1),
  (secret) => JSON.stringify(JSON.stringify({ [secret]: [secret] })),
  (secret) => encodeURIComponent(secret),
  (secret) => encodeURIComponent(secret).replaceAll(/%../g, (hex) => hex.toLowerCase()),
  (secret) => encodeURIComponent(encodeURIComponent(secret)),
  (secret) => new URLSearchParams({ a: secret }).toString(),
  (secret) => encodeURI(secret),
  (secret) => JSON.stringify(encodeURIComponent(secret)),
  (secret) => new URL(`http://:${encodeURIComponent(secret)}@host/`).href,
  (secret) => `"${byNumber(secret)}"`,
  (secret) => `"${byNumber(JSON.stringify(secret))}"`,
];

/** All but letters and digits as JSON may write them: by their numbers. */
function byNumber(text: string): string {
  return text.replaceAll(/[^\w]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** All that may be read out of a text: decoded again and again, in each way. */
function readings(text: string): ReadonlySet<string> {
  const found = new Set([text]);
  for (let turn = 0; turn < 3; turn += 1) {
    const before = Array.from(found);
    for (const one of before) {
      found.add(
        one.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      );
      found.add(one.replaceAll('+', ' '));
      found.add(
        one.replaceAll(
          /\\(?:u([\da-f]{4})|(.))/gis,
          (_, hex: string | undefined, plain: string | undefined) =>
            hex === undefined ? (plain ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
        ),
      );
    }
  }
  return found;
}

export function leaks(text: string, secret: string): boolean {
  return leaked(text, [secret]).length > 0;
}

export function leaked(text: string, secrets: readonly string[]): readonly string[] {
  const all = [...readings(text)];
  return secrets.filter((secret) => all.some((reading) => reading.includes(secret)));
}
