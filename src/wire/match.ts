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

/** The first route that fits wins. */
export function createMatcher<Value>(routes: readonly Route<Value>[]): Matcher<Value> {
  const patterns = routes.map(({ method, path, value }) => ({ method, value, pattern: patternOf(path) }));

  function match(method: string, path: string): RouteMatch<Value> | undefined {
    for (const { method: own, value, pattern } of patterns) {
      const params = own === method ? paramsOf(pattern, path) : undefined;
      if (params) return { value, params };
    }
    return undefined;
  }

  function methodsOf(path: string): string[] {
    return patterns.filter(({ pattern }) => paramsOf(pattern, path)).map(({ method }) => method);
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

/** With or without a slash at its end. */
function patternOf(path: string): RegExp {
  const inner = path.replaceAll(/^\/|\/$/g, '').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^/?${inner}/?$`);
}

function paramsOf(pattern: RegExp, path: string): Record<string, string> | undefined {
  const found = pattern.exec(path);
  if (found === null) return undefined;
  try {
    const decoded = Object.entries(found.groups ?? {}).map(([name, text]) => [
      name,
      decodeURIComponent(text),
    ]);
    return Object.fromEntries(decoded) as Record<string, string>;
  } catch {
    return undefined;
  }
}
