/**
 * undici in parts. Its own entry, by being imported alone, replaces the dispatcher of the whole process, and so changes
 * what fetch() of the app around this library does (lib/global.js); it also loads much that is not used here.
 */
import type { Socket } from 'node:net';
import type {
  Agent as DirectAgentType,
  buildConnector,
  Client as ClientType,
  Dispatcher,
  EnvHttpProxyAgent as AgentType,
  errors as errorsType,
} from 'undici';
import apiConnect from 'undici/lib/api/api-connect.js';
import apiRequest from 'undici/lib/api/api-request.js';
import connector from 'undici/lib/core/connect.js';
import errors from 'undici/lib/core/errors.js';
import directAgent from 'undici/lib/dispatcher/agent.js';
import client from 'undici/lib/dispatcher/client.js';
import agent from 'undici/lib/dispatcher/env-http-proxy-agent.js';

/** One that asks no proxy. */
export function createDirectAgent(options: DirectAgentType.Options): Dispatcher {
  const Constructor = directAgent as typeof DirectAgentType;
  return new Constructor(options);
}

/**
 * One that asks the proxy that the environment names for an origin. An empty variable counts as not set, as everywhere
 * here and in curl: compose files pass both cases of a name on, and undici would take the empty one.
 */
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

/** One socket to one origin, or to a proxy; `connect` is the method that undici's entry would have given it. */
export function createSocketClient(origin: string | URL, options: ClientType.Options): ClientType {
  const Constructor = client as typeof ClientType;
  return Object.assign(new Constructor(origin, options), { connect: apiConnect as ClientType['connect'] });
}

/** Makes sockets as undici's clients do. Unlike what the type says, the socket is returned while it is still connecting. */
export function createConnector(
  options: buildConnector.BuildOptions,
): (...parameters: Parameters<buildConnector.connector>) => Socket {
  const create = connector as typeof buildConnector;
  return create(options) as ReturnType<typeof createConnector>;
}

/** What `agent.request(options)` is when undici's entry has been loaded. */
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

export function isUndiciError(error: unknown): error is errorsType.UndiciError {
  return error instanceof (errors as typeof errorsType).UndiciError;
}
