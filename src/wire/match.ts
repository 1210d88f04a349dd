/** Finds the operation of a method and a path, for a server of this interface. */
import { OPERATION_IDS, operationOf, type OperationId } from '../contract/operations.ts';

export interface Route<Value> {
  readonly method: string;
  readonly path: string;
  readonly value: Value;
}

export interface RouteMatch<Value> {
  readonly value: Value;
  readonly params: Readonly<Record<string, string>>;
}

interface Matcher<Value> {
  (method: string, path: string): RouteMatch<Value> | undefined;
  methodsOf(path: string): string[];
}

type Segment = { readonly literal: string } | { readonly name: string };

interface Pattern<Value> {
  readonly method: string;
  readonly segments: readonly Segment[];
  readonly value: Value;
}

/** The first route that fits wins. */
export function createMatcher<Value>(routes: readonly Route<Value>[]): Matcher<Value> {
  const bySize = new Map<number, Pattern<Value>[]>();
  for (const { method, path, value } of routes) {
    const segments = segmentsOf(path).map(compileSegment);
    const sameSize = bySize.get(segments.length) ?? [];
    sameSize.push({ method, segments, value });
    bySize.set(segments.length, sameSize);
  }

  function match(method: string, path: string): RouteMatch<Value> | undefined {
    const segments = segmentsOf(path);
    for (const pattern of bySize.get(segments.length) ?? []) {
      if (pattern.method !== method) continue;
      const params = matchSegments(pattern.segments, segments);
      if (params) return { value: pattern.value, params };
    }
    return undefined;
  }

  function methodsOf(path: string): string[] {
    const segments = segmentsOf(path);
    return (bySize.get(segments.length) ?? [])
      .filter((pattern) => matchSegments(pattern.segments, segments) !== undefined)
      .map((pattern) => pattern.method);
  }

  return Object.assign(match, { methodsOf });
}

/** Finds the operation of a method and path. */
export const matchOperation: Matcher<OperationId> = createMatcher(
  OPERATION_IDS.map((id) => {
    const { method, path } = operationOf(id);
    return { method, path, value: id };
  }),
);

function compileSegment(segment: string): Segment {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1];
  return name === undefined ? { literal: segment } : { name };
}

function segmentsOf(path: string): string[] {
  return path.slice(path.startsWith('/') ? 1 : 0, path.endsWith('/') ? -1 : undefined).split('/');
}

function matchSegments(
  pattern: readonly Segment[],
  actual: readonly string[],
): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = actual[index] ?? '';
    if ('literal' in expected) {
      if (segment !== expected.literal) return undefined;
    } else {
      const decoded = decodeSegment(segment);
      if (!decoded) return undefined;
      params[expected.name] = decoded;
    }
  }
  return params;
}

function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
