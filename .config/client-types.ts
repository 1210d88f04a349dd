/**
 * The texts of the table for an editor: interfaces with a comment for each operation and each field of an input. They
 * are appended to the declarations of the same interfaces, and merge with them. Their types refer to the types that
 * derive from the table, or are plain words.
 */
import * as z from 'zod';
import { flagsOf, type Flag } from '../src/cli/operations/flags.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../src/contract/operations.ts';
import { descriptionOf, inlineSchema } from '../src/openapi/document.ts';
import { EXTRA } from '../src/wire/request.ts';

/** File below dist/types → text to append. */
export const ADDED = {
  'client/client.d.ts': clientText,
  'contract/operations.d.ts': inputsText,
};

function clientText(): string {
  const resources = Map.groupBy(OPERATION_IDS, (id) => id.split('.')[0] ?? '');
  const members = [...resources].map(([resource, ids]) => {
    const methods = ids.map(
      (id) => `${operationComment(id)}\nreadonly ${id.slice(resource.length + 1)}: Call<'${id}'>;\n`,
    );
    return `readonly ${resource}: {\n${methods.join('')}};\n`;
  });
  return indented(
    `import type { Call } from './caller.ts';\nexport interface Client {\n${members.join('')}}\n`,
  );
}

function inputsText(): string {
  const members = OPERATION_IDS.map((id) => {
    const fields = flagsOf(operationOf(id)).filter(({ path }) => path[0] !== EXTRA);
    if (fields.length === 0) return '';
    const type = `{\n${fieldsText(`Fields<'${id}'>`, fields)}} & Extra<Operations['${id}']>`;
    return `${operationComment(id)}\nreadonly '${id}': ${type};\n`;
  });
  return indented(`export interface Inputs {\n${members.join('')}}\n`);
}

/** The fields of an object of this type, and of the objects in it. */
function fieldsText(type: string, fields: readonly Flag[], depth = 1): string {
  const texts = fields
    .filter(({ path }) => path.length === depth)
    .map((field) => {
      const [name = ''] = field.path.slice(-1);
      const own = `${type}['${name}']`;
      const inner = fields.filter(({ path }) => path[0] === name);
      const nested = fieldsText(`NonNullable<${own}>`, inner, depth + 1);
      const value = nested === '' ? (plainType(field) ?? own) : `{\n${nested}}`;
      const member = isRequired(field) ? `${name}: ${value}` : `${name}?: ${value} | undefined`;
      return `${fieldComment(field)}\n${member};\n`;
    });
  return texts.join('');
}

/** An editor shows a type as it is written, so a plain one is written itself. */
function plainType({ schema, choices }: Flag): string | undefined {
  if (choices.length > 0) return choices.map((choice) => `'${choice}'`).join(' | ');
  const { type } = inlineSchema(schema);
  if (type === 'integer') return 'number';
  return type === 'string' || type === 'number' || type === 'boolean' ? type : undefined;
}

/** The flag of a field in an object can always be left out, because the object can. */
function isRequired({ path, required, schema }: Flag): boolean {
  if (path.length === 1) return required;
  return schema instanceof z.ZodOptional && !(schema.unwrap() as z.ZodType).safeParse(undefined).success;
}

function operationComment(id: OperationId): string {
  const { replacedBy, ...operation } = operationOf(id);
  const codes = operation.errors.join(', ');
  return comment([
    descriptionOf(operation),
    codes && `@throws ApiError, with the \`errorCode\` ${codes}`,
    replacedBy && `@deprecated Use \`${replacedBy}\`.`,
  ]);
}

function fieldComment({ description, byDefault }: Flag): string {
  return comment([description, byDefault !== undefined && `@default ${JSON.stringify(byDefault)}`]);
}

function comment(words: readonly (string | false | undefined)[]): string {
  const lines = words.filter(Boolean).map((line) => ` * ${line}\n`);
  return `/**\n${lines.join('')} */`;
}

/** By the braces that are open. */
function indented(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('}')) depth -= 1;
    const indent = line === '' ? '' : '    '.repeat(depth);
    if (line.endsWith('{')) depth += 1;
    return `${indent}${line}`;
  });
  return lines.join('\n');
}
