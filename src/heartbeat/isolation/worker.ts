/**
 * The thread of the heartbeats: nothing else runs here, so nothing else can hold them up. It takes orders and
 * reports what happens; when nobody listens, it goes on beating.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { createApiKey, type ApiKey } from '../../client/api-key.ts';
import { collectStartGarbage } from '../../start-garbage.ts';
import { figuresOf } from '../figures.ts';
import { openHeart, type LocalHeart } from '../heart.ts';
import type { DeploymentView } from '../view.ts';
import type { Begin, Message, Order } from './protocol.ts';
import { Reports } from './reports.ts';

/** Views, or rows of figures, in one message: a beat that is due waits for no more than these to be made. */
const VIEWS_AT_ONCE = 250;

interface Parts {
  readonly say: (message: Message, transfer?: readonly ArrayBuffer[]) => void;
  readonly close: () => void;
  readonly heart: LocalHeart;
  readonly apiKey: ApiKey;
  readonly reports: Reports;
}

if (parentPort === null) throw new Error('this is the entry of a worker thread');
parentPort.once('message', begin);

function begin({ birth, port }: Begin): void {
  const say: Parts['say'] = (message, transfer = []) => port.postMessage(message, transfer);
  const reports = new Reports((gathered, missed) => say({ type: 'reports', reports: gathered, missed }));
  const apiKey = createApiKey(birth.key, birth.keyFile);
  const heart = openHeart(
    {
      baseUrl: birth.baseUrl,
      apiKey: {
        ...apiKey,
        async reread(signal) {
          const before = apiKey.current();
          const key = await apiKey.reread(signal);
          if (key !== before) say({ type: 'key', key });
          return key;
        },
      },
      listener: {
        notice: (deploymentId, notice, at) => reports.add({ type: 'notice', deploymentId, notice, at }),
        exchange: (event) => reports.add({ type: 'exchange', event }),
        crashed() {},
        missed() {},
      },
    },
    (at) => {
      birth.lastTickAt[0] = at;
    },
  );
  for (const choice of birth.deployments) heart.add(choice);
  const parts = { say, close: () => port.close(), heart, apiKey, reports };
  port.on('message', (order: Order) => void obey(order, parts));
  collectStartGarbage();
}

async function obey(order: Order, { say, close, heart, apiKey, reports }: Parts): Promise<void> {
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
    case 'stop':
      await heart.stop();
      reports.flush();
      say({ type: 'done', request: order.request, ids: [] });
      return close();
  }
}

async function tell(
  what: 'view' | 'figures',
  request: number,
  asked: Iterable<DeploymentView>,
  say: Parts['say'],
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
