import type { TemplateFields } from '../../contract/operations/templates.ts';

/** Fields that are set, or have a default; null is unset. */
export type TemplateContent = Readonly<TemplateFields>;

export interface TemplateRecord {
  readonly id: number;
  readonly creatorId: number;
  readonly recommended: boolean;
  /** What `tag` is without one. */
  readonly defaultTag: string;
  readonly createdMs: number;
  content: TemplateContent;
  hashId: string;
  /** Instances made from it so far, by anybody. */
  countCreated: number;
  /** When the last one was made, Unix ms; null before the first. */
  recentCreateMs: number | null;
}
