/** HTTP headers in one variable, written as OTEL_EXPORTER_OTLP_HEADERS has them: `authorization=Bearer%20abc,x-scope=team`. */
import type { ValueType } from './value-types.ts';

export type HeaderList = Readonly<Record<string, string>>;

/** Of a name: RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const VALUE = /^[\t\u0020-\u007E]+$/;
/** What the request itself says. */
const RESERVED = /^(?:host|connection|transfer-encoding|content-.*)$/;

export const headerList: ValueType<HeaderList> = {
  name: 'list of name=value',
  parse(text) {
    const headers = text.split(',').map(parseHeader);
    const allowed =
      'HTTP headers such as authorization=Bearer%20abc,x-scope=team, values percent-encoded, none of content-…';
    return headers.every((header) => header !== undefined)
      ? { value: Object.fromEntries(headers), problems: [] }
      : { value: undefined, problems: [{ at: '', got: text, allowed }] };
  },
};

function parseHeader(text: string): readonly [string, string] | undefined {
  const [, name = '', encoded = ''] = /^([^=]*)=(.*)$/s.exec(text.trim()) ?? [];
  const value = decoded(encoded.trim());
  if (!NAME.test(name) || RESERVED.test(name.toLowerCase()) || !VALUE.test(value)) return undefined;
  return [name.toLowerCase(), value];
}

/** A token may have a percent sign that encodes nothing. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
