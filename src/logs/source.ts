/** The log of a worker group, or the endpoint's own, in which the service says what it decides and why. */
export type LogSource =
  | { readonly kind: 'workergroup'; readonly id: number }
  /** Records and metrics have the name; questions have the id. */
  | { readonly kind: 'endpoint'; readonly id: number; readonly name: string };

/** `workergroup/123` or `endpoint/45` */
export type SourceKey = `${LogSource['kind']}/${number}`;

export function sourceKey({ kind, id }: LogSource): SourceKey {
  return `${kind}/${id}`;
}
