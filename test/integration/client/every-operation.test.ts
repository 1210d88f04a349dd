import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { ApiError } from '../../../src/client/errors.ts';
import { COMMON_ERRORS, ERRORS, type ErrorCode } from '../../../src/contract/errors.ts';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { DEFAULT_TEAM_KEY, startEmulator } from '../../../src/emulator/index.ts';

/** Needs a code that the example cannot know; the flows' and the emulator's own tests bring real ones. */
function verifiesACode(id: string): boolean {
  return (
    id.startsWith('tfa.') && operationOf(id as (typeof OPERATION_IDS)[number]).verification.secret !== 'never'
  );
}

test.each(OPERATION_IDS)(
  'the client makes %s against the emulator with its documented example',
  async (id) => {
    await using emulator = await startEmulator({ dialect: 'public' });
    const apiKey = id.startsWith('teams.') ? DEFAULT_TEAM_KEY : emulator.apiKey;
    await using client = createClient({ baseUrl: emulator.url, apiKey });
    const operation = operationOf(id);
    const outcome: unknown = await client.call(id, operation.example.input, { retry: false }).then(
      (answer) => ({ answer }),
      (error: unknown) => error,
    );
    expect(emulator.journal.count({ operation: id })).toBe(1);
    if (!(outcome instanceof ApiError)) {
      expect(operation.response.safeParse((outcome as { answer: unknown }).answer).success).toBe(true);
      return;
    }
    expect(verifiesACode(id) || id === 'tfa.authorizeNewMethod', outcome.message).toBe(true);
    const declared: readonly ErrorCode[] = [...operation.errors, ...COMMON_ERRORS];
    expect(declared).toContain(outcome.errorCode);
    expect(ERRORS[outcome.errorCode as ErrorCode].status).toContain(outcome.status);
  },
);
