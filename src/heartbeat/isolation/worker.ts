/**
 * The thread of the heartbeats: nothing else runs here, so nothing else can hold them up. It takes orders and
 * reports what happens; when nobody listens, it goes on beating.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { createApiKey, type ApiKey } from '../../client/api-key.ts';
import { openHeart, type Heart } from '../heart.ts';
import type { DeploymentView } from '../view.ts';
import type { Begin, Message, Order } from './protocol.ts';
import { Reports } from './reports.ts';

/** Views in one message, so that a beat that is due waits for no more than these to be copied. */
const VIEWS_AT_ONCE = 250;

interface Parts {
  readonly say: (message: Message) => void;
  readonly close: () => void;
  readonly heart: Heart;
  readonly apiKey: ApiKey;
  readonly reports: Reports;
}

if (parentPort === null) throw new Error('this is the entry of a worker thread');
parentPort.once('message', begin);

function begin({ birth, port }: Begin): void {
  const say = (message: Message): void => port.postMessage(message);
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
      return tellViews(order.request, heart.view({ timelines: order.timelines }), say);
    case 'final-beat':
      return say({ type: 'done', request: order.request, ids: await heart.finalBeat(order.limitMs) });
    case 'stop':
      await heart.stop();
      reports.flush();
      say({ type: 'done', request: order.request, ids: [] });
      return close();
  }
}

async function tellViews(
  request: number,
  asked: Promise<readonly DeploymentView[]>,
  say: Parts['say'],
): Promise<void> {
  const views = await asked;
  for (let at = 0; at < views.length; at += VIEWS_AT_ONCE) {
    say({ type: 'views', request, views: views.slice(at, at + VIEWS_AT_ONCE) });
    await nextTurn();
  }
  say({ type: 'done', request, ids: [] });
}
