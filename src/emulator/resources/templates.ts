/**
 * Templates (§2.2), pure: their content, the hash derived from it, and who sees which. The hash is of the
 * content alone: equal contents have equal hashes whoever stored them, an edit that changes anything changes
 * it, and an edit that changes nothing leaves it as it was.
 */
import type { TemplateContent, TemplateRecord } from '../state/templates.ts';
import { createHash } from 'node:crypto';
import { TEMPLATE_DEFAULTS, type TemplateFields } from '../../contract/operations/templates.ts';
import { nextId } from '../state/next-id.ts';
import type { State } from '../state/state.ts';

/** A flag that is not set is off. */
const OFF = {
  ssh_direct: false,
  use_ssh: false,
  jup_direct: false,
  use_jupyter_lab: false,
  private: false,
} as const;

export type TemplateChanges = { readonly [F in keyof TemplateFields]?: TemplateFields[F] | undefined };

export function contentOf(fields: TemplateFields): TemplateContent {
  return complete(fields, {});
}

/** 32 hexadecimal digits; the order in which fields were sent has no part in it. */
export function templateHash(content: TemplateContent): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex').slice(0, 32);
}

export function createTemplate(state: State, userId: number, fields: TemplateFields, nowMs: number) {
  const content = contentOf(fields);
  const template: TemplateRecord = {
    id: nextId(state, 'template', state.templates.keys()),
    creatorId: userId,
    recommended: false,
    defaultTag: TEMPLATE_DEFAULTS.tag,
    createdMs: nowMs,
    content,
    hashId: templateHash(content),
    countCreated: 0,
    recentCreateMs: null,
  };
  state.templates.set(template.id, template);
  return template;
}

export function editTemplate(template: TemplateRecord, changes: TemplateChanges): void {
  template.content = complete(template.content, changes);
  template.hashId = templateHash(template.content);
}

/** Everybody sees what is not private; its creator sees it anyway. */
export function visibleTo(template: TemplateRecord, userId: number): boolean {
  return template.creatorId === userId || template.content.private !== true;
}

/** The template of a hash; where several have it, one's own comes first, then the newest. */
export function findTemplate(state: State, hashId: string, userId: number): TemplateRecord | undefined {
  const own = findOwnTemplate(state, hashId, userId);
  return own ?? newest(state, (other) => other.hashId === hashId && visibleTo(other, userId));
}

/** The one that this user may edit. */
export function findOwnTemplate(state: State, hashId: string, userId: number): TemplateRecord | undefined {
  return newest(state, (template) => template.hashId === hashId && template.creatorId === userId);
}

/** A template as it is answered: everything but the registry's token, which goes in and never comes out. */
export function templateView(template: TemplateRecord) {
  const { docker_login_pass: _, ...content } = template.content;
  return {
    id: template.id,
    hash_id: template.hashId,
    creator_id: template.creatorId,
    created_at: template.createdMs / 1000,
    count_created: template.countCreated,
    recent_create_date: template.recentCreateMs === null ? null : template.recentCreateMs / 1000,
    default_tag: template.defaultTag,
    recommended: template.recommended,
    ...content,
  };
}

function complete(fields: TemplateFields, changes: TemplateChanges): TemplateContent {
  const entries = Object.entries({ ...fields, ...changes });
  const set = Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null));
  return { ...OFF, ...TEMPLATE_DEFAULTS, ...(set as unknown as TemplateFields) };
}

function newest(state: State, fits: (template: TemplateRecord) => boolean): TemplateRecord | undefined {
  return [...state.templates.values()].filter(fits).sort((a, b) => b.id - a.id)[0];
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
