/** A route maps a request to a reply, without a socket. */
import type { IncomingMessage } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly type: string;
  /** Together the texts may have 30 MB, so they are written one by one. */
  readonly body: string | Buffer | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteRequest {
  readonly headers: IncomingMessage['headers'];
  readonly query: URLSearchParams;
  /** Of bounded size. */
  readonly body: string;
}

export type Route = (request: RouteRequest) => Reply | Promise<Reply>;
/** `GET /metrics` → route. */
export type Routes = Readonly<Record<string, Route>>;

export function plain(status: number, body: string): Reply {
  return { status, type: 'text/plain', body };
}

export function json(status: number, value: unknown): Reply {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}

export function schemaRoute(schema: () => unknown): Route {
  return () => ({ ...json(200, schema()), type: 'application/schema+json' });
}

type CsvField = string | number | null | undefined;

/** A spreadsheet runs a field with such a beginning as a formula, which may send data out. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

export function csvOf(columns: readonly string[], lines: readonly (readonly CsvField[])[]): string {
  return [columns, ...lines].map((fields) => `${fields.map(fieldOf).join(',')}\r\n`).join('');
}

/** Others chose the text: it is never a formula, and always one field. */
function fieldOf(field: CsvField): string {
  if (typeof field !== 'string') return String(field ?? '');
  const safe = FORMULA.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
