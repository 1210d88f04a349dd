import * as z from 'zod';
import { createMatcher } from '../../wire/match.ts';
import { problemsOf } from '../../wire/request.ts';
import { jsonAnswer, type Answer } from '../answer.ts';
import type { Beginning } from '../seed/build.ts';
import { TraitsError } from '../seed/seed.ts';
import { catchUp, type World } from '../service.ts';
import type { State } from '../state/state.ts';

/** What tests see and change of one kind of thing, in process and over HTTP. */
export class Inspection {
  protected readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** The state after everything due by now has happened. */
  protected get current(): State {
    catchUp(this.world, this.world.now());
    return this.world.state;
  }

  protected get beginning(): Beginning {
    const { settings, users } = this.world.state;
    return { nowMs: this.world.now(), owner: users.keys().next().value ?? 0, settings };
  }
}

export function existing<Item>(items: ReadonlyMap<number, Item>, id: number, what: string): Item {
  const item = items.get(id);
  if (!item) throw new RangeError(`no ${what} ${id}`);
  return item;
}

interface AdminRequest {
  readonly name: string;
  /** `name` as a number. @throws Error if it is not an integer */
  readonly id: number;
  readonly query: Readonly<Record<string, string>>;
}

export interface AdminRoute {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  run(request: AdminRequest, bodyText: string): unknown;
}

function route(method: string) {
  return (path: string, summary: string, run: (request: AdminRequest) => unknown): AdminRoute => ({
    method,
    path,
    summary,
    run,
  });
}

function bodyRoute(method: string) {
  return <Schema extends z.ZodType>(
    path: string,
    summary: string,
    schema: Schema,
    run: (body: z.output<Schema>, request: AdminRequest) => unknown,
  ): AdminRoute => ({
    method,
    path,
    summary,
    run: (request, bodyText) => run(schema.parse(readJson(bodyText)), request),
  });
}

export const get = route('GET');
export const remove = route('DELETE');
export const trigger = route('POST');
export const post = bodyRoute('POST');
export const put = bodyRoute('PUT');

export type AdminApi = ReturnType<typeof createAdminApi>;

const PREFIX = '/_emulator';

export function createAdminApi(routes: readonly AdminRoute[]) {
  const match = createMatcher(
    routes.map((each) => ({ method: each.method, path: PREFIX + each.path, value: each })),
  );
  const overview = routes.map(({ method, path, summary }) => ({ method, path: PREFIX + path, summary }));

  return {
    owns: (url: string) => /^\/_emulator(?:$|[/?])/.test(url),
    async answer(method: string, url: string, bodyText: string): Promise<Answer> {
      const { pathname, searchParams } = new URL(url, 'http://emulator');
      if (method === 'GET' && /^\/_emulator\/?$/.test(pathname)) return jsonAnswer(200, { routes: overview });
      const found = match(method, pathname);
      if (!found) return unknownRoute(method, pathname);
      try {
        const { value, params } = found;
        const [name = ''] = Object.values(params);
        const request = {
          name,
          get id() {
            if (Number.isSafeInteger(Number(name))) return Number(name);
            throw new Error(`id: "${name}" is no integer`);
          },
          query: Object.fromEntries(searchParams),
        };
        return jsonAnswer(200, (await value.run(request, bodyText)) ?? { ok: true });
      } catch (error) {
        return refusal(error);
      }
    },
  };

  function unknownRoute(method: string, path: string): Answer {
    const methods = match.methodsOf(path);
    const known =
      methods.length > 0 ? `it knows ${methods.join(', ')} here` : 'GET /_emulator/ lists what it knows';
    return jsonAnswer(404, { error: 'not_found', msg: `no admin route ${method} ${path}; ${known}` });
  }
}

function readJson(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`body: not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function refusal(error: unknown): Answer {
  const isTraits = error instanceof TraitsError;
  if (!isTraits && !(error instanceof z.ZodError)) {
    const missing = error instanceof RangeError && error.message.startsWith('no ');
    const msg = error instanceof Error ? error.message : String(error);
    return jsonAnswer(missing ? 404 : 400, { error: missing ? 'not_found' : 'bad_request', msg });
  }
  const found = isTraits ? error.problems : problemsOf(error, undefined);
  const problems = found.map(({ field, message }) => ({ field, message }));
  const told = problems.map(({ field, message }) => `${field || 'body'}: ${message}`).join('; ');
  return jsonAnswer(400, { error: 'bad_request', msg: isTraits ? error.message : told, problems });
}
