/** A command's words → the input of its operation, all problems at once, in terms of its flags. Pure. */
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import {
  isKeptOutOfMessages,
  FILTER_OPERATORS,
  memoryUnitOf,
  OPERATOR_SIGNS,
} from '../../contract/schemas.ts';
import { nearestName } from '../../contract/text/nearest-name.ts';
import { FlagError } from '../../contract/text/shell-words.ts';
import * as z from 'zod';
import { EXTRA, type InputProblem } from '../../wire/request.ts';
import { InputError } from '../console.ts';
import type { Flag } from './flags.ts';
import { envMapOf, parseEnvFlags } from '../../contract/text/env-flags.ts';
import { envMap } from '../../contract/operations/instances/instances.ts';
import { coerceText, innerOf } from '../../wire/coerce.ts';

export type Input = Record<string, unknown>;

interface GivenTexts {
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly query?: string | undefined;
}

/** `base`: the object of --input, which the rest overrides. */
export function readInput(
  flags: readonly Flag[],
  { flags: given, query }: GivenTexts,
  base: Readonly<Input>,
) {
  const input: Input = structuredClone(base);
  const problems: string[] = [];
  const notes: string[] = [];
  const note = (text: string): unknown => notes.push(text);
  let asked: Input = {};
  if (query !== undefined) {
    try {
      asked = readQuery(flags, query, note);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(`${JSON.stringify(query)} ${error.message}`);
    }
  }
  for (const flag of flags) {
    const texts = given.get(flag.name);
    try {
      const before = asked[flag.field];
      // Conditions of a flag are added to those without one.
      const all = before === undefined ? texts : [JSON.stringify(before), ...(texts ?? [])];
      if (all !== undefined) put(input, flag.path, readFlag(flag, all, note));
      else if (flag.fallback !== undefined && input[flag.field] === undefined)
        put(input, flag.path, flag.fallback);
    } catch (error) {
      if (!(error instanceof InputError || error instanceof FlagError)) throw error;
      problems.push(
        `--${flag.name}: ${isKeptOutOfMessages(flag.schema) ? '' : `${JSON.stringify(texts?.at(-1))} `}${error.message}`,
      );
    }
  }
  return { input, problems, notes };
}

/** An operation with such flags takes conditions without a flag: each filter has one, or one is for all. */
export function queryFlags(flags: readonly Flag[]): Flag[] {
  return flags.filter(({ kind, field }) => kind === 'filter' || (kind === 'filters' && field === SELECT));
}

const SELECT = 'select_filters';

/** Fields that no flag knows are sent unchecked. */
function readQuery(flags: readonly Flag[], query: string, note: (text: string) => void): Input {
  const own = queryFlags(flags);
  const select = own.find(({ kind }) => kind === 'filters');
  if (select) return { [SELECT]: readFlag(select, [query], note) };
  const known = Object.fromEntries(own.map(({ field, schema }) => [field, schema]));
  const conditions = Object.entries(readFilters(z.object(known), [query], note));
  const further = conditions.filter(([field]) => !Object.hasOwn(known, field));
  for (const [field] of further) {
    const flag = flags.find((each) => each.field === field);
    if (flag) throw new InputError(`${field} is no condition; write --${flag.name}`);
    const nearest = nearestName(field, Object.keys(known));
    note(
      `${field} is not a field that is known here, and is sent as it is${nearest ? `; did you mean ${nearest}?` : ''}`,
    );
  }
  return {
    ...Object.fromEntries(conditions.filter(([field]) => Object.hasOwn(known, field))),
    ...(further.length > 0 && { [EXTRA]: Object.fromEntries(further) }),
  };
}

function put(input: Input, [field, nested]: Flag['path'], value: unknown): void {
  if (nested === undefined) input[field] = value;
  else input[field] = { ...(input[field] as Input | undefined), [nested]: value };
}

/** `--target-util: Too big … (got 2); it takes number: target capacity utilization, a fraction … [§2.7]` */
export function describeInputProblem(
  { source }: Operation,
  flags: readonly Flag[],
  { field, message, value }: InputProblem,
): string {
  const got = value === undefined ? '' : ` (got ${JSON.stringify(value)?.slice(0, 80)})`;
  const flag =
    flags.find(({ path }) => path.join('.') === field) ??
    flags.find((each) => each.field === field.split('.')[0]);
  if (!flag) return `${field === '' ? '' : `${field}: `}${message}${got} [${source}]`;
  const place = flag.path.join('.') === field ? '' : ` (${field})`;
  const meaning =
    flag.description === '' ? '' : `; it takes ${flag.takes || 'no value'}: ${flag.description}`;
  return `--${flag.name}${place}: ${message}${got}${meaning} [${source}]`;
}

type Note = (text: string) => void;

/** Lists, maps and filters add up; of others the last counts. @throws InputError that names the form */
export function readFlag({ kind, schema, path }: Flag, texts: readonly string[], note: Note): unknown {
  const inner = innerOf(schema);
  const last = texts.at(-1) ?? '';
  const name = String(path.at(-1));
  switch (kind) {
    case 'list':
      return texts.flatMap((text) => readItems(inner as z.ZodArray, text));
    case 'map':
      return Object.assign(
        {},
        ...texts.map((text) => readEntries(inner as z.ZodRecord, text, note)),
      ) as unknown;
    case 'filters':
      return readFilters(inner, texts, note);
    case 'filter':
      return readCondition(inner, name, texts, note);
    case 'scalar':
      // Container flags in one text add up.
      return readScalar(schema, name, name === 'env' ? texts.join(' ') : last, note);
    case 'choice':
    case 'boolean':
    case 'json':
      return coerceText(schema, last);
  }
}

function readItems(schema: z.ZodArray, text: string): unknown[] {
  const parsed = text.startsWith('[') ? coerceText(schema, text) : undefined;
  if (Array.isArray(parsed)) return parsed;
  const element = schema.element as z.ZodType;
  if (element instanceof z.ZodTuple) return text.split(',').map((item) => readOrder(item));
  // A text may have commas of its own, a number has none.
  const items = element instanceof z.ZodNumber ? text.split(',').map((item) => item.trim()) : [text];
  return items.map((item) => coerceText(element, item));
}

/** `dph_total`, `price-` or `price desc`: a field and its direction. */
function readOrder(text: string): [field: string, direction: string] {
  const [, field, minus, word = 'asc'] = /^\s*([\w.]+)(-?)(?:\s+(asc|desc))?\s*$/.exec(text) ?? [];
  if (field === undefined)
    throw new InputError("takes a field such as price, 'price desc' or price-, or JSON");
  return [fieldOf(field), minus ? 'desc' : word];
}

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['price', 'dph_total'],
  ['dph', 'dph_total'],
]);

function fieldOf(name: string): string {
  return ALIASES.get(name) ?? name;
}

/** `NAME=value`, a JSON object, or container flags if the map is of environment and ports. */
function readEntries(schema: z.ZodRecord, text: string, note: Note): Record<string, unknown> {
  if (text.startsWith('{')) return readObject(text);
  if (schema === (envMap as z.ZodType) && text.trimStart().startsWith('-')) {
    const flags = parseEnvFlags(text);
    for (const flag of flags)
      if (flag.kind === 'variable' && flag.value === undefined)
        note(`-e ${flag.name} has no value and is left out; write -e ${flag.name}=value`);
    return envMapOf(flags);
  }
  const equals = text.indexOf('=');
  if (equals < 1) throw new InputError('takes NAME=value, once for each, or one JSON object');
  return { [text.slice(0, equals)]: coerceText(schema.valueType as z.ZodType, text.slice(equals + 1)) };
}

/** A value is a list, a quoted text, or ends at the next condition. Reads the vendor's forms too. */
const CONDITION =
  /\s*([\w.]+)\s*(==|!=|<=|>=|=|<|>|\bnotin\b|\bin\b)\s*(\[[^\]]*\]|"[^"]*"(?=\s|$)|'[^']*'(?=\s|$)|[^]+?)(?=\s*$|\s+[\w.]+\s*(?:[=<>]|!=)|\s+[\w.]+\s+(?:not)?in\s)/y;
const ITEM = /"[^"]*"|'[^']*'|[^,]+/g;
const FILTER_RULE =
  "takes 'FIELD OPERATOR VALUE' such as 'count_created >= 10' or 'name in [a,b]', one or several; " +
  `operators = != < <= > >= in notin; or one JSON object with ${FILTER_OPERATORS.join(', ')}`;

type Filters = Record<string, Record<string, unknown>>;

function readFilters(schema: z.ZodType, texts: readonly string[], note: Note): Filters {
  const filters: Filters = {};
  for (const text of texts) {
    const read = text.startsWith('{') ? readObject(text) : readFilter(schema, text, note);
    for (const [field, condition] of Object.entries(read))
      filters[field] = { ...filters[field], ...conditionOf(condition) };
  }
  return filters;
}

/** A lone value means equals, a list means one of. */
function conditionOf(value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  return Array.isArray(value) ? { in: value } : { eq: value };
}

function readCondition(schema: z.ZodType, field: string, texts: readonly string[], note: Note): unknown {
  const named = texts.map((text) => (text.startsWith('{') ? `{"${field}":${text}}` : `${field} ${text}`));
  try {
    return readFilters(z.object({ [field]: schema }), named, note)[field];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError("takes 'OPERATOR VALUE' such as '>= 10' or 'in [a,b]', or one JSON object");
  }
}

function readFilter(schema: z.ZodType, text: string, note: Note): Filters {
  const filters: Filters = {};
  for (let at = 0; text.slice(at).trim() !== '' || at === 0; at = CONDITION.lastIndex) {
    CONDITION.lastIndex = at;
    const [, name = '', sign = '', value = ''] = CONDITION.exec(text) ?? [];
    const field = fieldOf(name);
    if (value === '') throw new InputError(FILTER_RULE);
    const operator = OPERATOR_SIGNS[sign] ?? sign;
    const read = (item: string): unknown => readValue(valueType(schema, field), field, item.trim(), note);
    const isSeveral = operator === 'in' || operator === 'notin';
    const items = value.replace(/^\[([^]*)\]$/, '$1').match(ITEM) ?? [];
    filters[field] = { ...filters[field], [operator]: isSeveral ? items.map(read) : read(value) };
  }
  return filters;
}

/** `"RTX 4090"` or `RTX_4090`, `True`, and memory as `24GB` or `24576MB`. */
function readValue(type: z.ZodType, field: string, text: string, note: Note): unknown {
  const plain = text.replace(/^(["'])([^]*)\1$/, '$2');
  if (field === 'gpu_name') return plain.replaceAll('_', ' ');
  if (innerOf(type) instanceof z.ZodString) return coerceText(type, plain);
  return readScalar(
    type,
    field,
    plain.replace(/^(True|False)$/, (word) => word.toLowerCase()),
    note,
  );
}

/** Numbers that are times are Unix seconds; a day without a time begins in UTC. */
function isDate(type: z.ZodType, text: string): boolean {
  return (
    innerOf(type) instanceof z.ZodNumber && /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))
  );
}

/** Filters that leave their fields open are of the interface, where memory is in MB (§1). */
const OPEN_MEMORY = /^[cg]pu_(?:total_)?ram$/;

function readScalar(type: z.ZodType, field: string, text: string, note: Note): unknown {
  const isOpen = innerOf(type) instanceof z.ZodUnknown && OPEN_MEMORY.test(field);
  const unit = memoryUnitOf(type) ?? (isOpen ? 'MB' : undefined);
  if (unit === undefined) return isDate(type, text) ? Date.parse(text) / 1000 : coerceText(type, text);
  const [, amount, given] = /^([\d.]+) ?([GM])B$/i.exec(text) ?? [];
  if (amount !== undefined) {
    const isGiven = given?.toUpperCase() === unit[0];
    // A minimum stays one: a card of 24 GB has a little over 24000 MB, and less than 24576.
    const converted = unit === 'MB' ? Number(amount) * 1_000 : Number(amount) / 1_024;
    return isGiven ? Number(amount) : converted;
  }
  const value = coerceText(type, text);
  const isOdd = typeof value === 'number' && (unit === 'MB' ? value > 0 && value < 1_000 : value >= 1_000);
  if (isOdd) {
    const other = unit === 'MB' ? 'GB' : 'MB';
    note(`${field} is in ${unit} here, so this is ${value} ${unit}; write ${value}${other} if you mean that`);
  }
  return value;
}

function valueType(schema: z.ZodType, field: string): z.ZodType {
  const filter = schema instanceof z.ZodObject ? (schema.shape[field] as z.ZodType | undefined) : undefined;
  const operators = filter && innerOf(filter);
  return operators instanceof z.ZodObject ? (operators.shape['eq'] as z.ZodType) : z.unknown();
}

function readObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new InputError(`is not JSON: ${(error as Error).message}`);
  }
}
