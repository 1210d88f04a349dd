import type { EndpointGroupParameters } from '../../contract/operations/endpoint-groups.ts';

export interface EndpointGroupRecord {
  readonly id: number;
  readonly userId: number;
  /** Unix time in ms. */
  readonly createdMs: number;
  /** What the user set, without defaults: a rule may tell the two apart. */
  parameters: EndpointGroupParameters;
}
