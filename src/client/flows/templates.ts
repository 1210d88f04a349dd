/** Templates over several calls: an edit changes the hash_id by which the next one must name the template (§2.2). */
import type { Input, Output } from '../../contract/operations.ts';
import type { Client } from '../client.ts';

export type TemplateChanges = Omit<Input<'templates.edit'>, 'hash_id'>;

/** A template that is followed through its edits. */
export interface OpenTemplate {
  /** As of the last edit; the one to launch with, as `template_hash_id`. */
  readonly hashId: string;
  readonly id: number | undefined;
  /** Changes these fields and keeps the others. Edits go one after the other, each by the hash that the last one left. */
  edit(
    changes: TemplateChanges,
    options?: { readonly signal?: AbortSignal },
  ): Promise<Output<'templates.edit'>['template']>;
}

/** Follows a template from what create, edit or search returned. */
export function openTemplate(
  client: Client,
  template: { readonly hash_id: string; readonly id?: number | undefined },
): OpenTemplate {
  let hashId = template.hash_id;
  let last: Promise<unknown> = Promise.resolve();

  async function editNow(
    changes: TemplateChanges,
    options: { readonly signal?: AbortSignal },
  ): Promise<Output<'templates.edit'>['template']> {
    const { template: edited } = await client.templates.edit({ ...changes, hash_id: hashId }, options);
    hashId = edited.hash_id;
    return edited;
  }

  return {
    get hashId() {
      return hashId;
    },
    id: template.id,
    edit(changes, options = {}) {
      const edited = last.then(() => editNow(changes, options));
      // A failed edit leaves the hash as it was; the next one may go on from it.
      last = edited.catch(() => {});
      return edited;
    },
  };
}
