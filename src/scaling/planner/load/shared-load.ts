/** A load as plain data whose arrays threads share; `openLoad` makes the load of it again. */
export type SharedLoad =
  | { readonly kind: 'recorded'; readonly requests: SharedRequests }
  | { readonly kind: 'rates'; readonly rates: LoadRates };

export interface SharedRequests {
  readonly times: Float64Array<SharedArrayBuffer>;
  readonly works: Float64Array<SharedArrayBuffer>;
  /** Of the arrays, which have room for more. */
  readonly length: number;
  readonly work: number;
}

export interface LoadRates {
  /** Mean work that arrives in each step, units/s. */
  readonly unitsPerSecond: Float32Array;
  readonly stepSeconds: number;
  /** Mean work of a request, units. */
  readonly unitsPerRequest: number;
  readonly sizes: 'exponential' | 'fixed';
  readonly seed: number;
}
