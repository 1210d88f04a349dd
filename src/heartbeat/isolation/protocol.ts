/**
 * What the thread that beats and the one that does all the rest say to each other. All of it survives a structured
 * clone.
 */
import type { MessagePort } from 'node:worker_threads';
import type { DeploymentChoice } from '../driver.ts';
import type { DeploymentFigures } from '../figures.ts';
import type { ExchangeEvent } from '../heart.ts';
import type { Notice } from '../machine.ts';
import type { DeploymentView } from '../view.ts';

/** What another thread gets, to see a heart and to give it orders. Its port must be in the list of what is transferred. */
export interface HeartLink {
  readonly port: MessagePort;
  /** The deployments that beat already. */
  readonly deployments: readonly DeploymentChoice[];
  /** One number: when the scheduler last looked at the clock, Unix ms. Read while either thread is busy. */
  readonly lastTickAt: Float64Array<SharedArrayBuffer>;
}

/** To the heart. A `request` number comes back in the answer. */
export type Order =
  | { readonly type: 'add'; readonly choice: DeploymentChoice }
  | { readonly type: 'remove'; readonly deploymentId: number }
  | {
      readonly type: 'key';
      readonly request: number;
      readonly key: string;
      readonly keyFile: string | undefined;
    }
  | { readonly type: 'view' | 'figures'; readonly request: number }
  | { readonly type: 'final-beat'; readonly request: number; readonly limitMs: number }
  /** The last reports were taken; more may come. */
  | { readonly type: 'next' };

/** From the heart. */
export type Message =
  | { readonly type: 'reports'; readonly reports: readonly Report[]; readonly missed: number }
  /** The key source brought this key. */
  | { readonly type: 'key'; readonly key: string }
  /** Views of some deployments; the answer that follows the last of them has the rest. */
  | { readonly type: 'views'; readonly request: number; readonly views: readonly DeploymentView[] }
  /** The same for figures. */
  | { readonly type: 'figures'; readonly request: number; readonly figures: DeploymentFigures }
  /** An order is done. `ids`: those that the final beat did not reach; empty otherwise. */
  | { readonly type: 'done'; readonly request: number; readonly ids: readonly number[] };

export type Report =
  | {
      readonly type: 'notice';
      readonly deploymentId: number;
      readonly notice: Notice;
      readonly at: number;
    }
  | { readonly type: 'exchange'; readonly event: ExchangeEvent };
