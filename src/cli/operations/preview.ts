/** Shows a request unsent: as HTTP text without secrets, or as curl with shell variables for them. */
import type { Operation } from '../../contract/define.ts';
import { quoteWord } from '../../contract/text/shell-words.ts';
import { requestHeaders, type WireRequest } from '../../wire/request.ts';
import { flagsOf } from './flags.ts';

export interface Target {
  readonly baseUrl?: string;
  readonly serverlessUrl?: string;
  /** The secret of a login stands for the key. */
  readonly isKeyless: boolean;
}

/** With `show(NAME)` for each secret; `request` was encoded with the key `KEY_MARK`. */
export function previewRequest(
  operation: Operation,
  request: WireRequest,
  target: Target,
  show: (name: string) => string,
) {
  const body = request.body && hideSecrets(operation, request.body, show);
  return {
    method: request.method,
    url: baseOf(operation, target) + request.target,
    headers: requestHeaders(request, target.isKeyless ? undefined : show('API_KEY')),
    body: body || undefined,
  };
}

/** Stands for the API key in a request for show, so that the real one is not used at all. */
export const KEY_MARK = 'the API key';

export function httpText({ method, url, headers, body }: ReturnType<typeof previewRequest>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(body === undefined ? [] : ['', body])].join('\n');
}

/** Curl has its own words for these. */
const OF_OUR_CLIENT: ReadonlySet<string> = new Set(['user-agent', 'accept-encoding']);

export function curlLine(operation: Operation, request: WireRequest, target: Target) {
  const variables = new Set<string>();
  const marks = new Map<string, string>();
  const { method, url, headers, body } = previewRequest(operation, request, target, (name) => {
    variables.add(name);
    const mark = `<${crypto.randomUUID()}>`;
    marks.set(mark, name);
    return mark;
  });
  const [, variable, rest = url] = /^\$(\w+)(.*)$/s.exec(url) ?? [];
  if (variable !== undefined) variables.add(variable);
  const words = [
    'curl',
    '-sS',
    ...(method === 'GET' ? [] : ['-X', method]),
    ...Object.entries(headers).flatMap(([name, value]) =>
      OF_OUR_CLIENT.has(name) ? [] : ['-H', shellWord(`${name}: ${value}`, marks)],
    ),
    ...(body === undefined ? [] : ['--data-raw', shellWord(body, marks)]),
    (variable === undefined ? '' : `"$${variable}"`) + quoteWord(rest),
  ];
  return { line: words.join(' '), variables: [...variables] };
}

/** With a variable for each mark: `'{"api_key":"'"$API_KEY"'"}'`. */
function shellWord(text: string, marks: ReadonlyMap<string, string>): string {
  let word = quoteWord(text);
  for (const [mark, name] of marks) word = word.replaceAll(mark, `'"$${name}"'`);
  return word.replaceAll(/^''|''$/g, '');
}

function hideSecrets(operation: Operation, body: string, show: (name: string) => string): string {
  const fields = JSON.parse(body) as Record<string, unknown>;
  for (const { field, secret } of flagsOf(operation))
    if (secret && typeof fields[field] === 'string' && fields[field] !== '')
      fields[field] = show(field.toUpperCase());
  const { keyInBody } = operation;
  if (keyInBody !== undefined && keyInBody in fields) fields[keyInBody] = show('API_KEY');
  return JSON.stringify(fields);
}

/** An unknown address is shown as the variable that it would come from. */
function baseOf({ base }: Operation, { baseUrl, serverlessUrl }: Target): string {
  if (base === 'main') return trimmed(baseUrl) ?? '$BASE_URL';
  return trimmed(serverlessUrl ?? baseUrl) ?? '$SERVERLESS_URL';
}

function trimmed(url: string | undefined): string | undefined {
  return url?.replace(/(?<!\/)\/+$/, '');
}
