/**
 * undici in parts. Its entry replaces the dispatcher of the process, and with it the app's fetch()
 * (lib/global.js).
 */
import type { Socket } from 'node:net';
import type {
  Agent as DirectAgentType,
  buildConnector,
  Client as ClientType,
  Dispatcher,
  EnvHttpProxyAgent as AgentType,
} from 'undici';
import apiConnect from 'undici/lib/api/api-connect.js';
import apiRequest from 'undici/lib/api/api-request.js';
import connector from 'undici/lib/core/connect.js';
import directAgent from 'undici/lib/dispatcher/agent.js';
import client from 'undici/lib/dispatcher/client.js';
import agent from 'undici/lib/dispatcher/env-http-proxy-agent.js';

export function createDirectAgent(options: DirectAgentType.Options): Dispatcher {
  const Constructor = directAgent as typeof DirectAgentType;
  return new Constructor(options);
}

/** Takes an empty proxy variable as unset, as curl does and undici does not. */
export function createAgent(options: AgentType.Options): Dispatcher {
  const Constructor = agent as typeof AgentType;
  const { env } = process;
  return new Constructor({
    httpProxy: env['http_proxy'] || env['HTTP_PROXY'] || '',
    httpsProxy: env['https_proxy'] || env['HTTPS_PROXY'] || '',
    noProxy: env['no_proxy'] || env['NO_PROXY'] || '',
    ...options,
  });
}

/** `connect` is the method that undici's entry adds. */
export function createSocketClient(origin: string | URL, options: ClientType.Options): ClientType {
  const Constructor = client as typeof ClientType;
  return Object.assign(new Constructor(origin, options), { connect: apiConnect as ClientType['connect'] });
}

/** Unlike its type says, undici returns the socket while it connects. */
export function createConnector(
  options: buildConnector.BuildOptions,
): (...parameters: Parameters<buildConnector.connector>) => Socket {
  const create = connector as typeof buildConnector;
  return create(options) as ReturnType<typeof createConnector>;
}

export function request(
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const call = apiRequest as (
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ) => Promise<Dispatcher.ResponseData>;
  return call.call(dispatcher, options);
}
