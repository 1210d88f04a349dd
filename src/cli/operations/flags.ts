/** Schema → flags: the name, value and description of each input field. No flag is written by hand. */
import * as z from 'zod';
import type { Operation } from '../../contract/define.ts';
import { innerOf } from '../../wire/coerce.ts';
import { defaultOf, isSecret } from '../../contract/schemas.ts';
import { EXTRA, extraPartOf, partsOf } from '../../wire/request.ts';

type Path = readonly [field: string, ...nested: string[]];

/** How a flag's text becomes a value. */
type FlagKind = 'scalar' | 'choice' | 'boolean' | 'list' | 'map' | 'filter' | 'filters' | 'json';

export interface Flag {
  /** Where its value stands in the input: `['volume_info', 'size']`. */
  readonly path: Path;
  /** The first part of the path. */
  readonly field: string;
  readonly name: string;
  readonly kind: FlagKind;
  readonly schema: z.ZodType;
  readonly required: boolean;
  /** The command works on it, so it needs no flag: `deployment heartbeat 42`. */
  readonly subject: boolean;
  readonly secret: boolean;
  /** The value of a required field that is left out. */
  readonly fallback: unknown;
  /** The service's value of an optional field that is left out, if the interface says it. */
  readonly byDefault: unknown;
  readonly choices: readonly string[];
  /** What it takes, in a word: `integer`, `text`. */
  readonly takes: string;
  readonly description: string;
}

export function flagsOf(operation: Operation): Flag[] {
  const flags = partsOf(operation).flatMap(({ part, schema }) =>
    Object.entries(schema.shape).flatMap(([field, type]) =>
      flagsOfField([field], type as z.ZodType, part === 'params'),
    ),
  );
  return extraPartOf(operation) === undefined ? flags : [...flags, ...flagsOfField([EXTRA], further, false)];
}

const further = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('a further field, sent unchecked: JSON, or text; null for what is to be unset');

/** `endpointGroups` and `machine_ids` → `endpoint-groups`, `machine-ids` */
export function kebab(name: string): string {
  return name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function flagsOfField(path: Path, schema: z.ZodType, inPath: boolean): Flag[] {
  const inner = innerOf(schema);
  const required = !schema.safeParse(undefined).success;
  const notes = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const kind = kindOf(inner);
  const [field] = path;
  const flag: Flag = {
    path,
    field,
    name: path.map(kebab).join('-'),
    kind,
    schema,
    required,
    subject: path.length === 1 && required && (inPath || /(?:^|_)ids?$/.test(field)),
    secret: isSecret(schema),
    fallback: required ? notes.default : undefined,
    byDefault: required ? undefined : defaultOf(schema),
    choices: kind === 'choice' ? (notes.enum ?? []).map(String) : [],
    takes: takesOf(kind, inner),
    description: [notes.description, limitsOf(notes)].filter(Boolean).join('; '),
  };
  if (kind !== 'json' || !(inner instanceof z.ZodObject) || path.length > 1) return [flag];
  // The fields of an object are flags too: --volume-info-size 10.
  const nested = Object.entries(inner.shape).flatMap(([name, type]) =>
    flagsOfField([...path, name], (type as z.ZodType).optional(), false),
  );
  return [flag, ...nested];
}

function kindOf(inner: z.ZodType): FlagKind {
  if (inner instanceof z.ZodBoolean) return 'boolean';
  if (inner instanceof z.ZodEnum) return 'choice';
  if (inner instanceof z.ZodArray) return 'list';
  if (inner instanceof z.ZodRecord)
    return innerOf(inner.valueType as z.ZodType) instanceof z.ZodRecord ? 'filters' : 'map';
  if (!(inner instanceof z.ZodObject)) return 'scalar';
  if ('eq' in inner.shape) return 'filter';
  return isFilters(inner) ? 'filters' : 'json';
}

/** `{<field>: {<operator>: <value>}}` */
function isFilters(schema: z.ZodObject): boolean {
  return Object.values(schema.shape).every((field) => {
    const inner = innerOf(field as z.ZodType);
    return inner instanceof z.ZodObject && 'eq' in inner.shape;
  });
}

const TAKES: Readonly<Record<Exclude<FlagKind, 'scalar'>, string>> = {
  list: 'item',
  map: 'name=value',
  filter: 'condition',
  filters: 'filter',
  json: 'json',
  choice: 'choice',
  boolean: '',
};

function takesOf(kind: FlagKind, inner: z.ZodType): string {
  if (kind !== 'scalar') return TAKES[kind];
  if (!(inner instanceof z.ZodNumber)) return 'text';
  return inner.format === 'safeint' ? 'integer' : 'number';
}

/** `at least 1, at most 20`: the description may not say it. */
function limitsOf(schema: z.core.JSONSchema.BaseSchema): string {
  const { minimum, exclusiveMinimum, maximum, maxLength, pattern } = schema;
  const limits = [
    minimum !== undefined && minimum > 0 ? `at least ${minimum}` : '',
    exclusiveMinimum === undefined ? '' : `more than ${exclusiveMinimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `at most ${maximum}` : '',
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    pattern === undefined ? '' : `form ${pattern}`,
  ];
  return limits.filter((limit) => limit !== '').join(', ');
}
