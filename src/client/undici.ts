/**
 * undici in parts: a dispatcher and its request. undici's own entry replaces the dispatcher of the whole
 * process, and so changes what fetch() of the app around this library does, by being imported alone
 * (lib/global.js); it also loads fetch, WebSocket and caches, which nobody here uses.
 */
import type { Agent as AgentType, Dispatcher, errors as errorsType } from 'undici';
import agent from 'undici/lib/dispatcher/agent.js';
import apiRequest from 'undici/lib/api/api-request.js';
import errors from 'undici/lib/core/errors.js';

export type Agent = AgentType;

export function createAgent(options: AgentType.Options): Agent {
  const Constructor = agent as typeof AgentType;
  return new Constructor(options);
}

/** What `agent.request(options)` is when undici's entry has been loaded. */
export function request(
  dispatcher: Agent,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const call = apiRequest as (
    this: Agent,
    options: Dispatcher.RequestOptions,
  ) => Promise<Dispatcher.ResponseData>;
  return call.call(dispatcher, options);
}

export function isUndiciError(error: unknown): error is errorsType.UndiciError {
  return error instanceof (errors as typeof errorsType).UndiciError;
}
