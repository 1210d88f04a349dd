/** Prints an answer: lists as tables, objects as lines of name and value. */
import { operationOf, type OperationId } from '../../contract/operations.ts';
import { shownOncePaths } from '../../wire/reading.ts';
import { isRecord } from '../../contract/is-record.ts';
import { REDACTED } from '../../contract/text/redaction.ts';
import type { Console } from '../console.ts';
import { legibleJson } from '../../contract/text/controls.ts';
import * as z from 'zod';
import { isSecret, isoTime } from '../../contract/schemas.ts';
import { innerOf } from '../../wire/coerce.ts';
import { displayed, table } from '../text.ts';

const WORKER = 'id status cur_load perf measured_perf reqs_working gpu_name loaded_at';
const INSTANCE = 'id label actual_status intended_status machine_id gpu_name num_gpus dph_total image_uuid';

/** The fields of a long row that a person wants to see; `--json` has them all. */
const COLUMNS: Readonly<Partial<Record<OperationId, string>>> = {
  'deployments.list': 'id name tag endpoint_state worker_count ttl last_client_heartbeat image',
  'deployments.versions': 'id version_label image file_hash file_size created_at',
  'endpointGroups.list':
    'id endpoint_name endpoint_state min_load target_util cold_mult cold_workers max_workers',
  'endpointGroups.workers': WORKER,
  'workergroups.workers': WORKER,
  'instances.list': INSTANCE,
  'instances.page': INSTANCE,
  'offers.search': 'id gpu_name num_gpus gpu_ram dph_total disk_space reliability machine_id',
  'workergroups.list':
    'id endpoint_name endpoint_id template_hash search_query gpu_ram test_workers created_at',
};

export function columnsOf(id: OperationId): readonly string[] | undefined {
  return COLUMNS[id]?.split(' ');
}

interface AnswerOptions {
  readonly json?: boolean;
  readonly showKeys?: boolean;
}

/** Resolves with whether standard output took it, if that matters. */
export function printAnswer(id: OperationId, answer: unknown, options: AnswerOptions, console: Console) {
  const { json, showKeys = false } = options;
  const { columns } = console;
  const shown = showKeys ? answer : withoutKeys(answer);
  const layout = { columns, shown: columnsOf(id), showKeys };
  const text = json
    ? legibleJson(JSON.stringify(shown, null, columns === undefined ? undefined : 2))
    : renderAnswer(shown, operationOf(id).response, layout).join('\n');
  return printResult(id, `${text}\n`, console);
}

/** If standard output fails, standard error gets what is shown once. */
export async function printResult(id: OperationId, text: string, console: Console): Promise<boolean> {
  if (shownOncePaths(operationOf(id).response).length > 0) return await console.outOrErr(text);
  console.out(text);
  return true;
}

/** Opens an endpoint, in rows of lists. A new key has another name. */
const KEY = 'api_key';

/** At any depth: a service may have keys that the contract does not expect. */
function withoutKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutKeys);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    name === KEY && typeof field === 'string' ? REDACTED : withoutKeys(field),
  ]);
  return Object.fromEntries(fields) as unknown;
}

const INDENT = '  ';
const HIDDEN = '(a secret: --show-keys shows it)';

interface Layout {
  /** Width of the terminal; undefined: no limit. */
  readonly columns: number | undefined;
  /** Fields of the rows of a list to be shown; undefined: all but secrets. */
  readonly shown?: readonly string[] | undefined;
  readonly showKeys?: boolean;
}

/** `schema` says which numbers are times, and which texts are secrets. */
export function renderAnswer(answer: unknown, schema: z.ZodType, layout: Layout): string[] {
  const { columns, showKeys = false } = layout;
  if (Array.isArray(answer)) return renderList(answer, elementOf(schema), layout);
  if (!isRecord(answer)) return [cell(answer, undefined)];
  const all = Object.entries(answer);
  // The rest of the answer shows that it succeeded.
  const entries = all.length > 1 ? all.filter(([name, value]) => name !== 'success' || value !== true) : all;
  const [only] = entries;
  // A lone text, such as a log, is printed as it is.
  if (entries.length === 1 && typeof only?.[1] === 'string') return multiline(only[1]);
  const inside = entries.length === 1 || columns === undefined ? columns : columns - INDENT.length;
  const fields = entries.map(([key, value]) => {
    const field = fieldOf(schema, key);
    return { name: displayed(key), value, field, inner: below(value, field, { ...layout, columns: inside }) };
  });
  const plain = fields.filter(({ inner }) => inner === undefined);
  const width = Math.max(0, ...plain.map(({ name }) => name.length));
  const lines = plain.map(({ name, value, field }) => {
    const isHidden = !showKeys && typeof value === 'string' && isSecretField(field);
    return `${name.padEnd(width)}  ${isHidden ? HIDDEN : cell(value, field)}`.trimEnd();
  });
  for (const { name, inner = [] } of fields.filter((each) => each.inner !== undefined))
    lines.push(...(entries.length === 1 ? inner : [`${name}:`, ...inner.map((line) => INDENT + line)]));
  return lines;
}

/** The lines below its name; undefined: it stands beside it. */
function below(value: unknown, schema: z.ZodType | undefined, layout: Layout): string[] | undefined {
  if (Array.isArray(value)) return renderList(value, elementOf(schema), layout);
  if (isRecord(value))
    return renderEntries(value, layout) ?? renderAnswer(value, schema ?? z.unknown(), layout);
  return typeof value === 'string' && value.includes('\n') ? multiline(value) : undefined;
}

function renderEntries(value: Readonly<Record<string, unknown>>, layout: Layout): string[] | undefined {
  const entries = Object.entries(value);
  if (entries.length === 0 || !entries.every(([name, entry]) => /^\d+$/.test(name) && isRecord(entry)))
    return undefined;
  const rows = entries.map(([name, entry]) => Object.assign({ for: name }, entry));
  return renderList(rows, undefined, layout);
}

function renderList(
  rows: readonly unknown[],
  schema: z.ZodType | undefined,
  { columns, shown, showKeys = false }: Layout,
): string[] {
  if (rows.length === 0) return ['none'];
  if (!rows.every(isRecord)) return rows.map((row) => cell(row, schema));
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const names =
    shown?.filter((name) => all.includes(name)) ??
    all.filter((name) => showKeys || !isSecretField(fieldOf(schema, name)));
  return table(
    names.map(displayed),
    rows.map((row) => names.map((name) => cell(row[name], fieldOf(schema, name)))),
    { columns, left: all.length - names.length },
  );
}

function cell(value: unknown, schema: z.ZodType | undefined): string {
  if (value === undefined || value === null || value === '') return '-';
  // The service writes 0 for what has not happened.
  if (value === 0 && isTime(schema)) return '-';
  if (typeof value === 'number' && isTime(schema)) return isoTime(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return displayed(text.replaceAll(/\s+/g, ' '));
}

function multiline(text: string): string[] {
  return text.replace(/\n$/, '').split('\n').map(displayed);
}

function isTime(schema: z.ZodType | undefined): boolean {
  return schema !== undefined && z.globalRegistry.get(innerOf(schema))?.['format'] === 'unix-time';
}

function fieldOf(schema: z.ZodType | undefined, name: string): z.ZodType | undefined {
  const inner = schema && readOf(schema);
  return inner instanceof z.ZodObject ? (inner.shape[name] as z.ZodType | undefined) : undefined;
}

function elementOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  const inner = schema && readOf(schema);
  return inner instanceof z.ZodArray ? (inner.element as z.ZodType) : undefined;
}

function readOf(schema: z.ZodType): z.ZodType {
  const inner = innerOf(schema);
  return inner instanceof z.ZodPipe ? readOf(inner.out as z.ZodType) : inner;
}

/** Secrets among other fields are hidden; what is shown once is not one of these. */
function isSecretField(field: z.ZodType | undefined): boolean {
  return field !== undefined && isSecret(field);
}
