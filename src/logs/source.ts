/** Which log: that of a worker group, or an endpoint's own. In it the engine says what it decides and why. */
export type LogSource =
  | { readonly kind: 'workergroup'; readonly id: number }
  /** The name is what records and metrics say; the id is what the service is asked for. */
  | { readonly kind: 'endpoint'; readonly id: number; readonly name: string };

/** `workergroup/123` or `endpoint/45`: under it the spool keeps how far the log was followed. */
export type SourceKey = `${LogSource['kind']}/${number}`;

export function sourceKey({ kind, id }: LogSource): SourceKey {
  return `${kind}/${id}`;
}
