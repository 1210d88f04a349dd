/** The text of flags → the value that a schema takes, pure. What does not read stays text: the schema then says what is wrong. */
import * as z from 'zod';
import { envMapOf, parseEnvFlags } from '../../contract/text/env-flags.ts';
import { envMap } from '../../contract/operations/instances/instances.ts';
import { FILTER_OPERATORS, OPERATOR_SIGNS } from '../../contract/schemas.ts';
import { coerceText, innerOf } from '../../wire/coerce.ts';
import { InputError } from '../input-error.ts';
import type { Flag } from './flags.ts';

/**
 * The value of a flag that was given once or more. Lists, maps and filters add up; of others the last counts.
 * @throws InputError for a text that is not in the form that its flag takes; the message names the form
 */
export function readFlag({ kind, schema, path }: Flag, texts: readonly string[]): unknown {
  const inner = innerOf(schema);
  const last = texts.at(-1) ?? '';
  switch (kind) {
    case 'list':
      return texts.flatMap((text) => readItems(inner as z.ZodArray, text));
    case 'map':
      return Object.assign({}, ...texts.map((text) => readEntries(inner as z.ZodRecord, text))) as unknown;
    case 'filters':
      return readFilters(inner, texts);
    case 'filter':
      return readCondition(inner, path.at(-1) ?? '', texts);
    case 'scalar':
    case 'choice':
    case 'boolean':
    case 'json':
      return coerceText(schema, last);
  }
}

/** One item, several numbers with commas between them, or a JSON array. */
function readItems(schema: z.ZodArray, text: string): unknown[] {
  const parsed = text.startsWith('[') ? coerceText(schema, text) : undefined;
  if (Array.isArray(parsed)) return parsed;
  const element = schema.element as z.ZodType;
  // A text may have commas of its own, a number has none.
  const items = element instanceof z.ZodNumber ? text.split(',').map((item) => item.trim()) : [text];
  return items.map((item) => coerceText(element, item));
}

/** `NAME=value`, a JSON object, or container flags where the map is one of environment and ports. */
function readEntries(schema: z.ZodRecord, text: string): Record<string, unknown> {
  if (text.startsWith('{')) return readObject(text);
  if (schema === (envMap as z.ZodType) && text.trimStart().startsWith('-'))
    return envMapOf(parseEnvFlags(text));
  const equals = text.indexOf('=');
  if (equals < 1) throw new InputError('takes NAME=value, once for each, or one JSON object');
  return { [text.slice(0, equals)]: coerceText(schema.valueType as z.ZodType, text.slice(equals + 1)) };
}

/** One of several: its value ends where the next one begins. The vendor's own forms are read too. */
const CONDITION =
  /\s*([\w.]+)\s*(==|!=|<=|>=|=|<|>|\bnotin\b|\bin\b)\s*(\[[^\]]*\]|[^]+?)(?=\s*$|\s+[\w.]+\s*(?:[=<>]|!=)|\s+[\w.]+\s+(?:not)?in\s)/y;
const FILTER_RULE =
  "takes 'FIELD OPERATOR VALUE' such as 'count_created >= 10' or 'name in [a,b]', one or several; " +
  `operators = != < <= > >= in notin; or one JSON object with ${FILTER_OPERATORS.join(', ')}`;

function readFilters(schema: z.ZodType, texts: readonly string[]): Record<string, Record<string, unknown>> {
  const filters: Record<string, Record<string, unknown>> = {};
  for (const text of texts) {
    const read = text.startsWith('{') ? readObject(text) : readFilter(schema, text);
    for (const [field, condition] of Object.entries(read)) {
      filters[field] = { ...filters[field], ...(condition as Record<string, unknown>) };
    }
  }
  return filters;
}

/** Of one field: `'<= 0.5'`. */
function readCondition(schema: z.ZodType, field: string, texts: readonly string[]): unknown {
  const named = texts.map((text) => (text.startsWith('{') ? `{"${field}":${text}}` : `${field} ${text}`));
  try {
    return readFilters(z.object({ [field]: schema }), named)[field];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError("takes 'OPERATOR VALUE' such as '>= 10' or 'in [a,b]', or one JSON object");
  }
}

function readFilter(schema: z.ZodType, text: string): Record<string, Record<string, unknown>> {
  const filters: Record<string, Record<string, unknown>> = {};
  for (let at = 0; text.slice(at).trim() !== '' || at === 0; at = CONDITION.lastIndex) {
    CONDITION.lastIndex = at;
    const [, field = '', sign = '', value = ''] = CONDITION.exec(text) ?? [];
    if (value === '') throw new InputError(FILTER_RULE);
    const operator = OPERATOR_SIGNS[sign] ?? sign;
    const read = (item: string): unknown => readValue(valueType(schema, field), field, item.trim());
    const isSeveral = operator === 'in' || operator === 'notin';
    const items = value.replace(/^\[([^]*)\]$/, '$1').split(',');
    filters[field] = { ...filters[field], [operator]: isSeveral ? items.map(read) : read(value) };
  }
  return filters;
}

/** `"RTX 4090"` or `RTX_4090`, `True`, and memory as `24GB` or `24000MB`: of the interface it is in MB (§1). */
function readValue(type: z.ZodType, field: string, text: string): unknown {
  const plain = text.replace(/^(["'])([^]*)\1$/, '$2');
  if (field === 'gpu_name') return plain.replaceAll('_', ' ');
  const [, amount, unit] = (field.startsWith('gpu') && /^([\d.]+) ?([GM])B$/i.exec(plain)) || [];
  if (amount !== undefined) return Number(amount) * (unit?.toUpperCase() === 'G' ? 1_000 : 1);
  return coerceText(
    type,
    innerOf(type) instanceof z.ZodString ? plain : plain.replace(/^(True|False)$/, lower),
  );
}

function lower(word: string): string {
  return word.toLowerCase();
}

/** What a field is compared with; anything for filters that leave their fields open. */
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
