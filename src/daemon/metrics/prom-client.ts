/**
 * prom-client in parts: the metrics that the daemon has. Its own entry also loads node:cluster, an HTTP client for
 * a gateway, OpenTelemetry and default metrics, which together take 6 MB and are used by nobody here.
 */
import type * as whole from 'prom-client';
import counter from 'prom-client/lib/counter.js';
import gauge from 'prom-client/lib/gauge.js';
import histogram from 'prom-client/lib/histogram.js';
import registry from 'prom-client/lib/registry.js';

export const Counter = counter as typeof whole.Counter;
export type Counter<L extends string> = whole.Counter<L>;
export const Gauge = gauge as typeof whole.Gauge;
export const Histogram = histogram as typeof whole.Histogram;
export const Registry = registry as typeof whole.Registry;
