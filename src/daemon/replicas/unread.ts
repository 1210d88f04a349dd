/** What Redis keeps of the history and cannot be read: skipped, and said in the log with its place. */
import type { Logger } from 'pino';

export interface Unread {
  /** Of Redis, and the field of its hash; undefined where it is none. */
  readonly key: string;
  readonly field: string | undefined;
  readonly error: unknown;
  readonly of: 'endpoint' | 'names';
}

const WORDS: Readonly<Record<Unread['of'], string>> = {
  endpoint:
    'what Redis keeps of an endpoint cannot be read: the minute and the hour that were open begin anew',
  names: 'the names of endpoints that Redis keeps cannot be read: they are asked for anew',
};

export function unreadTo(logger: Logger): (unread: Unread) => void {
  return ({ key, field, error, of }) => logger.error({ key, field, err: error }, WORDS[of]);
}

/** Of each what can be read: one of them takes no other away. */
export function readEach<One>(
  entries: readonly (readonly [field: string, text: string])[],
  read: (field: string, text: string) => One,
  onUnread: (field: string, error: unknown) => void,
): One[] {
  return entries.flatMap(([field, text]) => {
    try {
      return [read(field, text)];
    } catch (error) {
      onUnread(field, error);
      return [];
    }
  });
}
