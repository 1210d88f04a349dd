/** Metrics of the advice on endpoints: what it would save, and how far its model was off. */
import type { EndpointStatus } from '../../status/schema.ts';
import { type Family, type Sample } from '../family.ts';

function perAdvice(value: (endpoint: EndpointStatus) => number | null): Family['read'] {
  return ({ fleet }) =>
    (fleet.samples ? fleet.endpoints : []).map((endpoint): Sample => ({
      labels: { endpoint_group: endpoint.endpoint_group },
      value: value(endpoint),
    }));
}

export const adviceFamilies: readonly Family[] = [
  {
    name: 'advice_gain_ratio',
    type: 'gauge',
    help: "What the advised parameters would save of today's cost, 0 to 1; below 0 where what keeps the limit is dearer; absent without advice.",
    read: perAdvice(({ advice }) => advice?.gain_ratio ?? null),
  },
  {
    name: 'advice_backtest_error_ratio',
    type: 'gauge',
    help: 'How far the model was off with the parameters that were set; above 0.25 nothing is advised.',
    read: perAdvice(({ advice }) => advice?.backtest_error_ratio ?? null),
  },
  {
    name: 'advice_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'When advice was last computed for the endpoint; 0 before the first.',
    read: perAdvice(({ advice }) => advice?.at ?? 0),
  },
];
