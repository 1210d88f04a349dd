/**
 * A peer: what one writes in an afternoon with the same six packages. One process, a heartbeat by a schedule with undici's
 * defaults, an answer checked with zod, prom-client's default metrics over HTTP. No deadline, no retry, no second try.
 */
import { createServer } from 'node:http';
import { schedule } from 'node-cron';
import { pino } from 'pino';
import { collectDefaultMetrics, Counter, register } from 'prom-client';
import { request } from 'undici';
import * as z from 'zod';

const { URL: url = '', KEY: key = '' } = process.env;
const Answer = z.object({ success: z.boolean() });
const log = pino(process.stderr);
const beats = new Counter({ name: 'beats_total', help: 'Heartbeats.', labelNames: ['result'] });
collectDefaultMetrics();

async function beat(): Promise<void> {
  const { body } = await request(url, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  const { success } = Answer.parse(await body.json());
  beats.inc({ result: String(success) });
  log.info({ success }, 'heartbeat');
}

createServer((_, response) => {
  void register.metrics().then((text) => response.end(text));
}).listen(0, '127.0.0.1');
schedule('* * * * * *', () => beat().catch((error: unknown) => log.error(error)));
await beat();
