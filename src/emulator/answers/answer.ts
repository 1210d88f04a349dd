/** An HTTP answer before it is on the wire. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** `reason` becomes `x-emulator-reason`: which field broke which rule. */
export function jsonAnswer(status: number, body: unknown, reason?: string): Answer {
  const answer = { status, contentType: JSON_TYPE, text: JSON.stringify(body) };
  return reason === undefined ? answer : { ...answer, headers: { 'x-emulator-reason': headerText(reason) } };
}

export function textAnswer(status: number, contentType: string, text: string): Answer {
  return { status, contentType, text };
}

/** Header values are one line of visible ASCII, and a client may have limits. */
function headerText(reason: string): string {
  return reason
    .replaceAll('§', 'section ')
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 500);
}
