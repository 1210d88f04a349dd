import type {
  EndpointGroupParameters,
  EndpointState,
} from '../../../contract/operations/serverless/endpoint-groups.ts';
import type { LoadRecord } from './loads.ts';

export interface EndpointGroupRecord {
  readonly id: number;
  readonly userId: number;
  /** Unix time in ms. */
  readonly createdMs: number;
  /** What the user set, without defaults: a rule may tell the two apart. */
  parameters: EndpointGroupParameters;
  state: EndpointState;
  /** Its own key, a secret: good at the serverless address alone. */
  readonly apiKey: string;
  /** The deployment that it was made for, and ends with; null: it was made by itself. */
  deploymentId: number | null;
  /** What happened to it and why, oldest first. */
  readonly events: EndpointEvent[];
  /** The same with most detail: each look at the load that found another one. */
  readonly details: EndpointEvent[];
  /** What is asked of it; null: nothing but the requests that come over /route/. */
  load: LoadRecord | null;
  /** Its engine begins with the workers that the parameters keep, as if it had always been there. */
  readonly established: boolean;
  /** Requests that asked it for a worker so far. */
  requests: number;
}

export interface EndpointEvent {
  /** Unix time in ms. */
  readonly atMs: number;
  readonly text: string;
}
