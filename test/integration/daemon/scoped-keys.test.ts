/** deploy/SECURITY.md says what a key must be able to do for each feature: tried with just that, and without it. */
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { ApiError, UnauthorizedError } from '../../../src/client/errors.ts';
import { OPERATIONS, type OperationId } from '../../../src/contract/operations.ts';
import { isRecord } from '../../../src/contract/is-record.ts';
import { DAEMON_OPERATION_IDS } from '../../../src/daemon/services/client.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { textOf } from '../../docs/documents.ts';

interface Row {
  readonly feature: string;
  readonly operations: readonly OperationId[];
  readonly permissions: Record<string, unknown>;
}

const ROWS: readonly Row[] = [
  ...textOf('deploy/SECURITY.md').matchAll(/^\| ([^|]+) \| (`[a-z][^|]*`) \| `(\{.*\})` \|$/gim),
].map(([, feature = '', operations = '', permissions = '']) => ({
  feature,
  operations: Array.from(operations.matchAll(/`([^`]+)`/g), ([, id]) => id as OperationId),
  permissions: JSON.parse(permissions) as Record<string, unknown>,
}));

const KEY = 'sk-scoped-0001';

function emulatorWith(permissions: Record<string, unknown>): Promise<Emulator> {
  return startEmulator({
    dialect: 'public',
    seed: { users: [{ id: 1, api_keys: [{ name: 'scoped', key: KEY, permissions }] }] },
  });
}

/** Each operation with what there is in the emulator: `fine`, or how it was refused. */
async function outcome(emulator: Emulator, id: OperationId, apiKey = KEY): Promise<string> {
  await using client = createClient({ baseUrl: emulator.url, apiKey });
  const [group = '', name = ''] = id.split('.');
  const call = (client as unknown as Record<string, Record<string, (input: unknown) => Promise<unknown>>>)[
    group
  ]?.[name];
  const { input } = OPERATIONS[id].example as { readonly input: unknown };
  try {
    await call?.(input);
    return call === undefined ? 'no such call' : 'fine';
  } catch (error) {
    if (error instanceof ApiError && error.errorCode === 'forbidden') return 'forbidden';
    return error instanceof UnauthorizedError ? 'unauthorized' : String(error);
  }
}

test('the page has each operation that heart and daemon call, once', () => {
  expect(ROWS.flatMap(({ operations }) => operations).toSorted()).toEqual(DAEMON_OPERATION_IDS.toSorted());
});

test.each(ROWS.map((row) => [row.feature, row] as const))('%s', async (_, { operations, permissions }) => {
  await using emulator = await emulatorWith(permissions);
  await using bare = await emulatorWith({});
  const needs = isRecord(permissions['api']) ? Object.keys(permissions['api']) : [];
  for (const id of operations) {
    expect([id, await outcome(emulator, id)]).toEqual([id, 'fine']);
    // As exact as the contract: not one more.
    const { permission } = OPERATIONS[id] as { readonly permission?: string };
    expect(needs).toEqual(permission === undefined ? [] : [permission]);
    expect([id, await outcome(bare, id)]).toEqual([id, needs.length === 0 ? 'fine' : 'forbidden']);
    expect([id, await outcome(emulator, id, 'sk-deleted-0002')]).toEqual([id, 'unauthorized']);
  }
});
