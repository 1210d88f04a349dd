import { Refused } from '../answers/refused.ts';
import { matchesFilters } from '../resources/template-filters.ts';
import {
  createTemplate,
  editTemplate,
  findOwnTemplate,
  templateView,
  visibleTo,
} from '../resources/templates.ts';
import type { HandlersOf } from './define.ts';

export const templateHandlers: HandlersOf<'templates'> = {
  'templates.search': ({ select_filters: filters = {} }, { state, user }) => ({
    templates: [...state.templates.values()]
      .filter((template) => visibleTo(template, user.id))
      .map(templateView)
      .filter((template) => matchesFilters(template, filters)),
  }),

  'templates.create': (fields, { state, user, nowMs }) => ({
    template: templateView(createTemplate(state, user.id, fields, nowMs)),
  }),

  'templates.edit': ({ hash_id: hashId, ...changes }, { state, user }) => {
    const template = findOwnTemplate(state, hashId, user.id);
    if (!template) {
      throw new Refused('not_found', `no template with hash_id ${hashId}`, {
        reason: 'hash_id: no template of this account has it; it changes with every edit (§2.2)',
      });
    }
    editTemplate(template, changes);
    return { template: templateView(template) };
  },

  'templates.delete': ({ template_id: id }, { state, user }) => {
    if (state.templates.get(id)?.creatorId !== user.id) {
      throw new Refused('not_found', `no template ${id}`, {
        reason: `template_id: this account has no template with the numeric id ${id}`,
      });
    }
    state.templates.delete(id);
    return { success: true };
  },
};
