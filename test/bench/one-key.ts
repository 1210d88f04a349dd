/**
 * 1,000 deployments of one key, at a service that takes one heartbeat of a key every θ, and as many as just fit. Counted
 * once the limit is known. Run: node test/bench/one-key.ts [seconds]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { deploymentBooks, scrape } from './books.ts';
import { ensure, report } from './figures.ts';
import { copyProgram, secondsArgument, startEmulatorProcess, startProgram } from './processes.ts';

const SECONDS = secondsArgument(300);
const SETTLE_MS = 60_000;
const COUNT = 1_000;
const TTL_S = 60;
/** Of what fits: the machine's own delays are in neither. */
const FILL = 0.98;
const IDS = Array.from({ length: COUNT }, (_, index) => index + 1);

const { life, rescue } = timingFor({ ttl: TTL_S * 1_000, interval: 'auto' });
const thresholdSeconds = (FILL * (life - rescue)) / COUNT / 1_000;

using node = copyProgram(process.execPath);
await using emulator = await startEmulatorProcess({
  deployments: IDS.map((id) => ({ id, ttl: TTL_S })),
});
const operations = { size: 1, refill_per_second: 1 / thresholdSeconds };
await fetch(`${emulator.url}/_emulator/traits`, {
  method: 'PUT',
  body: JSON.stringify({ rate_limit: { operations } }),
});
await using program = await startProgram(node, {
  ...emulator.settings,
  DEPLOYMENT_TTL: `${TTL_S}s`,
  DEPLOYMENTS: IDS.join(','),
});
await delay(Math.min(SETTLE_MS, SECONDS * 200));
const before = await beats();
await delay(SECONDS * 1_000 - Math.min(SETTLE_MS, SECONDS * 200));
const after = await beats();
const books = await deploymentBooks(emulator, { seconds: SECONDS, ttlSeconds: TTL_S });
report(
  'one-key-lapses',
  books.lapses,
  `one every ${(thresholdSeconds * 1_000).toFixed(0)} ms, ${SECONDS} s, ` +
    `closest approach ${books.closestSeconds.toFixed(1)} s`,
);
const [sent, refused] = [after.sent - before.sent, after.refused - before.refused];
report(
  'one-key-refused',
  (refused / sent) * 100,
  `${refused} of ${sent}; ${before.refused} before the limit was known`,
);

async function beats(): Promise<{ readonly sent: number; readonly refused: number }> {
  const text = await scrape(program);
  const codes = /^pilotlight_api_requests_total\{operation="deployments\.heartbeat",code="(\w+)"\} (\d+)$/gm;
  const counted = { sent: 0, refused: 0 };
  for (const [, code, count] of text.matchAll(codes)) {
    counted.sent += Number(count);
    ensure(['200', '429'].includes(code ?? ''), `answers with 200 or 429; ${count} were ${code}`);
    if (code === '429') counted.refused += Number(count);
  }
  return counted;
}
