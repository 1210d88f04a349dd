/**
 * Misuse that must not compile: a line that does makes the directive above it an error. Checked with the
 * sources by `npm run check:types`, and by the e2e test with the declarations of the packed library.
 */
import {
  type ApiError,
  createClient,
  launchInstance,
  type TransportError,
  type Client,
  type Output,
} from '../../src/index.ts';
import { startEmulator } from '../../src/emulator/index.ts';

export async function misuse(client: Client, error: ApiError | TransportError): Promise<void> {
  await client.deployments.heartbeat({ id: 42 }, { timeoutMs: 1000, signal: AbortSignal.timeout(5000) });
  await client.users.current();
  await client.users.current({});
  // @ts-expect-error -- an operation without fields takes none
  await client.users.current({ id: 7 });
  // @ts-expect-error -- an input is an object
  await client.users.current('7');
  // @ts-expect-error -- a deployment id is a number
  await client.deployments.heartbeat({ id: '42' });
  // @ts-expect-error -- a path parameter is missing
  await client.deployments.heartbeat({});
  // @ts-expect-error -- an operation with required fields needs an input
  await client.deployments.heartbeat();
  // @ts-expect-error -- a field that the interface does not have
  await client.deployments.heartbeat({ id: 42, ttl: 300 });
  // @ts-expect-error -- no such operation
  await client.deployments.hartbeat({ id: 42 });
  // @ts-expect-error -- no such resource
  await client.deployment.heartbeat({ id: 42 });
  // @ts-expect-error -- no such call option
  await client.deployments.heartbeat({ id: 42 }, { timeout: 1000 });
  // @ts-expect-error -- not an operation id
  await client.call('deployments.hartbeat', { id: 42 });

  const registry = { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' };
  await client.templates.create({ name: 'a', image: 'b', runtype: 'ssh', ...registry });
  // @ts-expect-error -- the image is missing
  await client.templates.create({ name: 'a', ...registry });
  // @ts-expect-error -- runtype is ssh, jupyter or args
  await client.templates.create({ name: 'a', image: 'b', runtype: 'docker', ...registry });
  // @ts-expect-error -- a filter is an operator with its value
  await client.templates.search({ select_filters: { name: 'vllm' } });
  // @ts-expect-error -- no such operator
  await client.templates.search({ select_filters: { name: { like: 'vllm' } } });
  // @ts-expect-error -- a new volume says whether it is one
  await client.instances.create({ offer_id: 1, volume_info: { volume_id: 4, mount_path: '/data' } });

  await client.instances.create({ offer_id: 1, image: 'x', extra: { entrypoint: '/bin/sh', label: null } });
  // @ts-expect-error -- extra fields stand in an object of their own
  await client.instances.create({ offer_id: 1, image: 'x', entrypoint: '/bin/sh' });
  // @ts-expect-error -- what takes no fields takes no extra ones
  await client.deployments.heartbeat({ id: 42, extra: {} });

  const beat: Output<'deployments.heartbeat'> = await client.deployments.heartbeat({ id: 42 });
  // @ts-expect-error -- an answer has no such field
  void beat.deploymnet_id;
  // @ts-expect-error -- an answer's field has its type
  beat.deployment_id.toUpperCase();
  const { logs, info0 } = await client.workergroups.logs({ id: 7, tail: 10 });
  const texts: (string | null | undefined)[] = [logs, info0];
  void texts;
  const { methods } = await client.tfa.status();
  const names: ('sms' | 'totp' | (string & {}))[] = methods.map(({ method }) => method);
  // @ts-expect-error -- a method may be one that nobody knew
  const known: ('sms' | 'totp')[] = names;
  void known;

  // @ts-expect-error -- an error's code is one of its class
  if (error.code === 'timed out') return;
  // @ts-expect-error -- only an error of the service has its words
  error.said.trim();

  // @ts-expect-error -- a client needs an address
  createClient({ apiKey: 'key' });
  // @ts-expect-error -- offers are a list of ids
  await launchInstance(client, { offers: 3001, request: { image: 'x' } });
  // @ts-expect-error -- the offer is not part of the request
  await launchInstance(client, { offers: [3001], request: { image: 'x', offer_id: 3001 } });

  // @ts-expect-error -- the dialects are spec and public
  await startEmulator({ dialect: 'vendor' });
  // @ts-expect-error -- no such section of a seed
  await startEmulator({ seed: { deployment: [{ id: 42, ttl: 20 }] } });
  const emulator = await startEmulator();
  // @ts-expect-error -- no such fault
  await emulator.faults.add({ kind: 'explode' });
}
