/** HTTP request line → operation, pure: what a server of this interface does with a method and a path. */
import type { Operation } from '../contract/define.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../contract/operations.ts';

export interface Match {
  readonly id: OperationId;
  /** Path parameters, decoded but still strings; see coerce.ts. */
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly id: OperationId;
  readonly method: Operation['method'];
  readonly segments: readonly string[];
}

const patterns: readonly Pattern[] = OPERATION_IDS.map((id) => {
  const { method, path } = operationOf(id);
  return { id, method, segments: segmentsOf(path) };
});

/** Finds the operation of a method and path, with or without a slash at the end. */
export function matchOperation(method: string, path: string): Match | undefined {
  const segments = segmentsOf(path);
  for (const pattern of patterns) {
    if (pattern.method !== method || pattern.segments.length !== segments.length) continue;
    const params = matchSegments(pattern.segments, segments);
    if (params) return { id: pattern.id, params };
  }
  return undefined;
}

function segmentsOf(path: string): string[] {
  return path.replace(/^\//, '').replace(/\/$/, '').split('/');
}

function matchSegments(
  pattern: readonly string[],
  actual: readonly string[],
): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = actual[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(expected)?.[1];
    if (name === undefined) {
      if (segment !== expected) return undefined;
    } else {
      const decoded = decodeSegment(segment);
      if (decoded === undefined) return undefined;
      params[name] = decoded;
    }
  }
  return params;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
