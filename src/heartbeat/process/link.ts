/** The messages between heart and daemon, as JSON. One report is under way at a time, so none pile up. */
import type { Ask, Grants } from '../../client/gate.ts';
import type { ExchangeEvent } from '../heart.ts';
import type { MissingDeployment } from '../discovery/watch.ts';
import type { HeartVitals } from './system.ts';
import type { AppSnapshot, AvoidedAddress, DeploymentSnapshot } from '../view/snapshot.ts';

/** Of the daemon. Not 1 and 2: libuv makes those blocking in a child, and so in its parent. */
export const DAEMON_STDOUT = 4;
export const DAEMON_STDERR = 5;

export interface Report {
  readonly number: number;
  readonly lastTickAt: number;
  /** Since the report before; all deployments in the first reports of a link. */
  readonly changed: readonly DeploymentSnapshot[];
  readonly removed: readonly number[];
  readonly exchanges: readonly (ExchangeEvent & { /** When it ended, Unix ms. */ readonly at: number })[];
  readonly lags: readonly number[];
  /** Exchanges and lags that were dropped, because too many waited. */
  readonly missed: number;
  readonly messages: Readonly<Record<string, number>>;
  readonly openConnections: number;
  readonly vitals: HeartVitals;
  readonly avoided: readonly AvoidedAddress[];
  readonly missing: readonly MissingDeployment[];
  readonly app: AppSnapshot | undefined;
}

export type HeartMessage =
  | { readonly type: 'report'; readonly report: Report }
  | { readonly type: 'reload' }
  | {
      readonly type: 'reloaded';
      readonly number: number;
      readonly ok: boolean;
      readonly problems: readonly string[];
    }
  | { readonly type: 'grants'; readonly grants: Grants }
  | { readonly type: 'stop'; readonly withinMs: number };

export type DaemonMessage =
  /** It can be asked to reload and to stop. */
  | { readonly type: 'started' }
  | { readonly type: 'taken'; readonly number: number }
  | { readonly type: 'ask'; readonly ask: Ask }
  | { readonly type: 'reload'; readonly number: number }
  /** It refused the reload: nothing changes on either side. */
  | { readonly type: 'reload-refused' }
  | { readonly type: 'log-level'; readonly level: string }
  | { readonly type: 'quit' }
  /** It has nothing left to do. A file that hangs may keep its process from ending. */
  | { readonly type: 'stopped' };

export interface Link<Outgoing, Incoming> {
  /** Never throws and never waits; after the end of the link messages are lost. */
  readonly send: (message: Outgoing) => void;
  readonly listen: (hear: (message: Incoming) => void) => void;
}
