/** Modules of prom-client by themselves; prom-client.ts gives them their types. */
declare module 'prom-client/lib/counter.js' {
  const counter: unknown;
  export = counter;
}
declare module 'prom-client/lib/gauge.js' {
  const gauge: unknown;
  export = gauge;
}
declare module 'prom-client/lib/histogram.js' {
  const histogram: unknown;
  export = histogram;
}
declare module 'prom-client/lib/registry.js' {
  const registry: unknown;
  export = registry;
}
