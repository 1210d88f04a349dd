/** Templates (§2.2). The hash covers the content only: an edit without a change keeps it. */
import { createHash } from 'node:crypto';
import { TEMPLATE_DEFAULTS, type TemplateFields } from '../../contract/operations/templates.ts';
import type { FilterOperator } from '../../contract/schemas.ts';
import { notFound } from '../answer.ts';
import { nextId, type State, type TemplateContent, type TemplateRecord } from '../state/state.ts';
import type { HandlersOf } from './define.ts';

export const templateHandlers: HandlersOf<'templates'> = {
  'templates.search': ({ select_filters: filters = {} }, { state, user }) => ({
    templates: [...state.templates.values()]
      .filter((template) => visibleTo(template, user.id))
      .map(templateView)
      .filter((template) => matchesFilters(template, filters)),
  }),

  'templates.create': (fields, { state, user, nowMs }) => {
    const id = nextId(state, 'template', state.templates.keys());
    const template = newTemplate(fields, { id, creator_id: user.id, created_at: nowMs / 1000 });
    state.templates.set(template.id, template);
    return { template: templateView(template) };
  },

  'templates.edit': ({ hash_id: hashId, ...changes }, { state, user }) => {
    const template = findOwnTemplate(state, hashId, user.id);
    if (!template) throw notFound(`template with hash_id ${hashId}`, 'hash_id');
    template.content = contentOf({ ...template.content, ...changes } as TemplateFields);
    template.hash_id = templateHash(template.content);
    return { template: templateView(template) };
  },

  'templates.delete': ({ template_id: id }, { state, user }) => {
    if (state.templates.get(id)?.creator_id !== user.id) throw notFound(`template ${id}`, 'template_id');
    state.templates.delete(id);
    return { success: true };
  },
};

const OFF = {
  ssh_direct: false,
  use_ssh: false,
  jup_direct: false,
  use_jupyter_lab: false,
  private: false,
} as const;

export function contentOf(fields: TemplateFields): TemplateContent {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return { ...OFF, ...TEMPLATE_DEFAULTS, ...(Object.fromEntries(set) as unknown as TemplateFields) };
}

/** 32 hexadecimal digits, whatever the order of the fields. */
export function templateHash(content: TemplateContent): string {
  const canonical = JSON.stringify(content, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash('sha256').update(canonical).digest('hex').slice(0, 32);
}

type NewTemplate = Pick<TemplateRecord, 'id' | 'creator_id' | 'created_at'> &
  Partial<Omit<TemplateRecord, 'content' | 'hash_id'>>;

export function newTemplate(fields: TemplateFields, given: NewTemplate): TemplateRecord {
  const content = contentOf(fields);
  const begun = { recommended: false, default_tag: TEMPLATE_DEFAULTS.tag, count_created: 0 };
  return { ...begun, recent_create_date: null, ...given, content, hash_id: templateHash(content) };
}

/** Private templates show to their creator only. */
export function visibleTo(template: TemplateRecord, userId: number): boolean {
  return template.creator_id === userId || template.content.private !== true;
}

/** The user's own templates come first, then the newest. */
export function findTemplate(state: State, hashId: string, userId: number): TemplateRecord | undefined {
  const own = findOwnTemplate(state, hashId, userId);
  return own ?? newest(state, (other) => other.hash_id === hashId && visibleTo(other, userId));
}

export function findOwnTemplate(state: State, hashId: string, userId: number): TemplateRecord | undefined {
  return newest(state, (template) => template.hash_id === hashId && template.creator_id === userId);
}

function newest(state: State, fits: (template: TemplateRecord) => boolean): TemplateRecord | undefined {
  return [...state.templates.values()].filter(fits).sort((a, b) => b.id - a.id)[0];
}

/** The registry token never comes out. */
export function templateView({ content, ...template }: TemplateRecord) {
  const { docker_login_pass: _, ...shown } = content;
  return { ...template, ...shown };
}

type Scalar = string | number | boolean;

const COMPARISONS: Readonly<Record<FilterOperator, (actual: Scalar, wanted: never) => boolean>> = {
  eq: (actual, wanted: Scalar) => actual === wanted,
  neq: (actual, wanted: Scalar) => actual !== wanted,
  lt: (actual, wanted: Scalar) => actual < wanted,
  lte: (actual, wanted: Scalar) => actual <= wanted,
  gt: (actual, wanted: Scalar) => actual > wanted,
  gte: (actual, wanted: Scalar) => actual >= wanted,
  in: (actual, wanted: readonly Scalar[]) => wanted.includes(actual),
  notin: (actual, wanted: readonly Scalar[]) => !wanted.includes(actual),
};

type Filters = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** All operators must hold (§4.2). For a field without a value only `neq` and `notin` hold. */
export function matchesFilters(row: Readonly<Record<string, unknown>>, filters: Filters): boolean {
  return Object.entries(filters).every(([field, filter]) =>
    Object.entries(filter ?? {}).every(([operator, wanted]) => {
      const actual = row[field] ?? null;
      if (actual === null) return operator === 'neq' || operator === 'notin';
      return COMPARISONS[operator as FilterOperator](actual as Scalar, wanted as never);
    }),
  );
}
