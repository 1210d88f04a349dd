/**
 * undici in parts: a dispatcher and its request. undici's own entry replaces the dispatcher of the whole
 * process, and so changes what fetch() of the app around this library does, by being imported alone
 * (lib/global.js); it also loads fetch, WebSocket and caches, which nobody here uses.
 */
import type {
  Agent as DirectAgentType,
  Dispatcher,
  EnvHttpProxyAgent as AgentType,
  errors as errorsType,
  Pool as PoolType,
} from 'undici';
import apiConnect from 'undici/lib/api/api-connect.js';
import apiRequest from 'undici/lib/api/api-request.js';
import errors from 'undici/lib/core/errors.js';
import directAgent from 'undici/lib/dispatcher/agent.js';
import agent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import pool from 'undici/lib/dispatcher/pool.js';

/** One that asks no proxy. */
export function createDirectAgent(options: DirectAgentType.Options): Dispatcher {
  const Constructor = directAgent as typeof DirectAgentType;
  return new Constructor(options);
}

export function createAgent(options: AgentType.Options): Dispatcher {
  const Constructor = agent as typeof AgentType;
  return new Constructor(options);
}

/** Connections to a proxy, with the method that undici's entry would have given them. */
export function createProxyPool(origin: URL, options: object): Dispatcher {
  const Constructor = pool as typeof PoolType;
  return Object.assign(new Constructor(origin, options), { connect: apiConnect as Dispatcher['connect'] });
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
