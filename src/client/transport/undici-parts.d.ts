/** Modules of undici that come without types; undici.ts gives them theirs. */
declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  const agent: unknown;
  export = agent;
}
declare module 'undici/lib/dispatcher/agent.js' {
  const agent: unknown;
  export = agent;
}
declare module 'undici/lib/api/api-request.js' {
  const request: unknown;
  export = request;
}
declare module 'undici/lib/core/connect.js' {
  const connector: unknown;
  export = connector;
}
declare module 'undici/lib/core/errors.js' {
  const errors: unknown;
  export = errors;
}

declare module 'undici/lib/api/api-connect.js' {
  const connect: unknown;
  export = connect;
}

declare module 'undici/lib/dispatcher/client.js' {
  const client: unknown;
  export = client;
}
