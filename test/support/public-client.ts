/** Requests as clients of the public service make them, and what they look at in the answer. */
import { afterEach, beforeEach } from 'vitest';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/index.ts';

export interface Answered {
  readonly status: number;
  readonly reason: string | null;
  readonly body: Record<string, unknown>;
}

export interface PublicClient extends AsyncDisposable {
  readonly emulator: Emulator;
  /** `key`: another than the first one of the seed; '': none in the header. */
  readonly send: (method: string, path: string, body?: unknown, key?: string) => Promise<Answered>;
}

/** Of two people who see nothing of each other; the keys are `a` and `b`. */
export const TWO_ACCOUNTS = {
  users: [
    { id: 1, api_keys: [{ name: 'a', key: 'a' }] },
    { id: 2, api_keys: [{ name: 'b', key: 'b' }] },
  ],
};

/** Asks an emulator; `key` '': none in the header. */
export async function ask(
  { url, apiKey }: Emulator,
  [method, path]: readonly [method: string, path: string],
  body?: unknown,
  key = apiKey,
): Promise<Answered> {
  const answer = await fetch(url + path, {
    method,
    headers: key === '' ? {} : { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: answer.status,
    reason: answer.headers.get('x-emulator-reason'),
    body: (await answer.json()) as Record<string, unknown>,
  };
}

/** An emulator that speaks the public dialect, and one who asks it. */
export async function startPublic(options: EmulatorOptions = {}): Promise<PublicClient> {
  const emulator = await startEmulator({ dialect: 'public', clock: 'frozen', ...options });
  return {
    emulator,
    send: (method, path, body, key) => ask(emulator, [method, path], body, key),
    [Symbol.asyncDispose]: () => emulator.close(),
  };
}

/** One of these for each test of a file. */
export function publicForEach(options: EmulatorOptions = {}): Pick<PublicClient, 'emulator' | 'send'> {
  let service: PublicClient;
  beforeEach(async () => {
    service = await startPublic(options);
  });
  afterEach(() => service[Symbol.asyncDispose]());
  return {
    get emulator() {
      return service.emulator;
    },
    send: (...request) => service.send(...request),
  };
}
