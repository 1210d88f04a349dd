/**
 * The heartbeats as another thread is served with them. They run here and need nobody: when no thread listens, or the
 * one that did has ended, they go on, and the next one is told what it missed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { createApiKey, type ApiKey } from '../../client/api-key.ts';
import type { DeploymentChoice } from '../driver.ts';
import { figuresOf } from '../figures.ts';
import { openHeart, type LocalHeart } from '../heart.ts';
import type { DeploymentView } from '../view.ts';
import type { HeartLink, Message, Order } from './protocol.ts';
import { Reports } from './reports.ts';

export interface HeartHostOptions {
  /** `{base_url}` of the interface document. */
  readonly baseUrl: string;
  readonly key: string;
  readonly keyFile: string | undefined;
  readonly deployments: readonly DeploymentChoice[];
}

export interface HeartHost {
  /** Resolves when the first request has ended, whatever came of it; never without a deployment. */
  readonly firstExchange: Promise<void>;
  /** For one thread at a time: the link before it ends. */
  link(): HeartLink;
  /** As `Heart` does, for when no other thread is there to ask for it. Where one has asked before, that was it. */
  finalBeat(limitMs: number): Promise<number[]>;
  stop(): Promise<void>;
}

/** Views, or rows of figures, in one message: a beat that is due waits for no more than these to be made. */
const VIEWS_AT_ONCE = 250;

type Say = (message: Message, transfer?: readonly ArrayBuffer[]) => void;

interface Parts {
  readonly say: Say;
  readonly heart: LocalHeart;
  readonly apiKey: ApiKey;
  readonly reports: Reports;
}

/** The heartbeats begin with the call. */
export function hostHeart({ baseUrl, key, keyFile, deployments }: HeartHostOptions): HeartHost {
  const reports = new Reports();
  const apiKey = createApiKey(key, keyFile);
  const { promise: firstExchange, resolve: exchanged } = Promise.withResolvers<void>();
  const lastTickAt = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  lastTickAt[0] = Date.now();
  let port: MessagePort | undefined;
  /** To the thread that listens now. Each link has its own: what another asked for is none of the next one's. */
  let say: Say = () => {};

  let final: Promise<number[]> | undefined;
  const local = openHeart(
    {
      baseUrl,
      apiKey: {
        ...apiKey,
        async reread(signal) {
          const before = apiKey.current();
          const now = await apiKey.reread(signal);
          if (now !== before) say({ type: 'key', key: now });
          return now;
        },
      },
      listener: {
        notice: (deploymentId, notice, at) => reports.add({ type: 'notice', deploymentId, notice, at }),
        exchange(event) {
          exchanged();
          reports.add({ type: 'exchange', event });
        },
        missed() {},
      },
    },
    (at) => {
      lastTickAt[0] = at;
    },
  );
  const heart: LocalHeart = { ...local, finalBeat: (limitMs) => (final ??= local.finalBeat(limitMs)) };
  for (const choice of deployments) heart.add(choice);

  return {
    firstExchange,
    link() {
      port?.close();
      const { port1: here, port2: there } = new MessageChannel();
      port = here;
      const sayHere: Say = (message, transfer = []) => here.postMessage(message, transfer);
      say = sayHere;
      here.on('message', (order: Order) => void obey(order, { say: sayHere, heart, apiKey, reports }));
      reports.sendTo((gathered, missed) => sayHere({ type: 'reports', reports: gathered, missed }));
      return { port: there, deployments: heart.choices(), lastTickAt };
    },
    finalBeat: (limitMs) => heart.finalBeat(limitMs),
    async stop() {
      await heart.stop();
      reports.close();
      port?.close();
    },
  };
}

async function obey(order: Order, { say, heart, apiKey, reports }: Parts): Promise<void> {
  switch (order.type) {
    case 'add':
      return heart.add(order.choice);
    case 'remove':
      return heart.remove(order.deploymentId);
    case 'next':
      return reports.taken();
    case 'key':
      apiKey.replace(order.key, order.keyFile);
      await heart.keyChanged();
      return say({ type: 'done', request: order.request, ids: [] });
    case 'view':
    case 'figures':
      return tell(order.type, order.request, heart.views(), say);
    case 'final-beat':
      return say({ type: 'done', request: order.request, ids: await heart.finalBeat(order.limitMs) });
  }
}

async function tell(
  what: 'view' | 'figures',
  request: number,
  asked: Iterable<DeploymentView>,
  say: Say,
): Promise<void> {
  for (const views of batches(asked, VIEWS_AT_ONCE)) {
    if (what === 'view') {
      say({ type: 'views', request, views });
    } else {
      const figures = figuresOf(views);
      say({ type: 'figures', request, figures }, [figures.buffer]);
    }
    await nextTurn();
  }
  say({ type: 'done', request, ids: [] });
}

/** Takes no more from `items` than the next batch needs, and that when it is asked for. */
function* batches<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
