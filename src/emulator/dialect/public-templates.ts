/** Templates as the public service's clients know them: `select_cols`, `templates_found`, deletion by hash. */
import { Refused } from '../answers/refused.ts';
import { findOwnTemplate } from '../resources/templates.ts';
import type { Requester } from './dialect.ts';
import { isRecord } from '../../contract/is-record.ts';

/** `select_cols` is a JSON list of columns, or `*` for all; without it all come. */
export function shownTemplates(
  { templates }: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const rows = Array.isArray(templates) ? templates.filter(isRecord) : [];
  const columns = columnsOf(query['select_cols']);
  const shown = columns === undefined ? rows : rows.map((row) => pick(row, columns));
  return { templates_found: rows.length, templates: shown };
}

/** A deletion that names the hash, as one by the numeric id. @throws Refused not_found */
export function withTemplateId(
  body: Record<string, unknown>,
  { state, userId }: Requester,
): Record<string, unknown> {
  const { hash_id: hashId, ...rest } = body;
  if (typeof hashId !== 'string' || (rest['template_id'] ?? null) !== null) return body;
  const template = userId === undefined ? undefined : findOwnTemplate(state, hashId, userId);
  if (template) return { ...rest, template_id: template.id };
  throw new Refused('not_found', `no template with hash_id ${hashId}`, {
    reason: 'hash_id: no template of this account has it',
  });
}

function columnsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const columns: string[] = text.match(/[\w*]+/g) ?? [];
  return columns.length === 0 || columns.includes('*') ? undefined : columns;
}

function pick(row: Readonly<Record<string, unknown>>, columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name)));
}
