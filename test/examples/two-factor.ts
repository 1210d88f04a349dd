// Adds an authenticator to an account and logs in with it. Codes come from whoever can read them.
//   node two-factor.ts
import { createInterface } from 'node:readline/promises';
import { addTotp, ApiError, createClient, explainError, login, totpCode } from 'pilotlight';

const {
  PILOTLIGHT_BASE_URL: baseUrl = 'http://127.0.0.1:8080',
  PILOTLIGHT_API_KEY: apiKey = 'emulator-key',
} = process.env;
const terminal = createInterface({ input: process.stdin, output: process.stderr });
const askCode = ({ method }: { method: string }) => terminal.question(`code (${method}): `);

const client = createClient({ baseUrl, apiKey });
try {
  let secret = '';
  const { backupCodes } = await addTotp(client, {
    method: 'email', // how the account proves that it may add a method
    askCode,
    generate: true, // a script keeps the secret and computes its codes
    onSecret: (setup) => {
      secret = setup.secret;
    },
  });
  console.log(`${backupCodes?.length ?? 0} backup codes: keep them`);

  const session = await login(client, { askCode, totpSecret: secret, now: () => Date.now() + 30_000 });
  console.log(
    `logged in as user ${session.user.id}; the next code is ${totpCode(secret, Date.now() + 60_000).length} digits`,
  );
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.error(explainError(error));
  process.exitCode = 1;
} finally {
  terminal.close();
  await client[Symbol.asyncDispose]();
}
