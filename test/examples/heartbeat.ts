// Keeps one deployment alive for a moment, and tells apart what can go wrong.
//   node heartbeat.ts 42
import {
  ApiError,
  createClient,
  PilotlightError,
  ThrottledError,
  TransportError,
  UnauthorizedError,
} from 'pilotlight';

const {
  PILOTLIGHT_BASE_URL: baseUrl = 'http://127.0.0.1:8080',
  PILOTLIGHT_API_KEY: apiKey = 'emulator-key',
} = process.env;
const id = Number(process.argv[2] ?? 42);

const client = createClient({ baseUrl, apiKey, timeoutMs: 5_000 });
try {
  const { deployment_id } = await client.deployments.heartbeat({ id });
  console.log(`deployment ${deployment_id} is alive`);
} catch (error) {
  if (error instanceof UnauthorizedError) console.error('a new key is needed');
  else if (error instanceof ThrottledError)
    console.error(`too fast; come back in ${error.retryAfterMs ?? 1000} ms`);
  else if (error instanceof ApiError)
    console.error(`the service says ${error.status} ${error.errorCode}: ${error.said}`);
  else if (error instanceof TransportError) console.error(`no connection (${error.reason})`);
  else if (error instanceof PilotlightError)
    console.error(`${error.code}: who must act is the ${error.actor}`);
  else throw error;
  process.exitCode = 1;
} finally {
  await client[Symbol.asyncDispose]();
}
