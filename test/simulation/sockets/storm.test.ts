/**
 * Real time: as long as the longest world, a minute, whatever their number. A failure names its seed;
 * SOCKET_SEED=n SOCKET_WORLDS=1 runs that one alone.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StepFunction } from '../../../src/heartbeat/engine/engine.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startForwardProxy } from '../../support/forward-proxy.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { createPrivateCa, startTlsFront } from '../../support/private-ca.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { BROKEN_ENGINES } from '../broken-engines.ts';
import { storm, type Only, type StormResult } from './storm.ts';
import { WAYS } from './ways.ts';

const WORLDS = Number(process.env['SOCKET_WORLDS'] ?? 40);
const FIRST_SEED = Number(process.env['SOCKET_SEED'] ?? Date.now() % 1_000_000);
const TTL_MS = 8_000;
const LENGTH_MS = 40_000;
/**
 * Beside the real one's, worlds in which nothing happens but what this engine does not survive, beside two busy loops
 * neither: where none is noticed, the judge sees nothing. The other broken engines are judged on virtual time (prove.ts);
 * here hedging saves most of them, and what hedging does depends on how fast the machine is.
 */
const BROKEN = {
  step: BROKEN_ENGINES['first failure is the last'],
  seeds: [1, 3, 4, 5, 11, 12].map((seed) => 1_000_000 + seed),
  only: { way: 'http', faults: ['status', 'refuse', 'reset'] },
} as const;

const describeStorms = describeWith('openssl', hasCommand('openssl', 'version'), 'apt-get install openssl');

describeStorms('chaos over real sockets', () => {
  const trusted = getCACertificates();
  const proxies = ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];
  const before = proxies.map((name) => [name, process.env[name]] as const);
  const seeds = Array.from({ length: WORLDS }, (_, index) => FIRST_SEED + index);
  const all = [...seeds, ...BROKEN.seeds];
  let certificate: { readonly key: string; readonly cert: string };

  beforeAll(() => {
    using folder = temporaryFolder();
    const ca = createPrivateCa(folder.path);
    certificate = ca.issue(
      ...all.flatMap((seed) => [`service-${seed}.internal`, `proxied-${seed}.internal`]),
    );
    setDefaultCACertificates([...trusted, readFileSync(ca.file, 'utf8')]);
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  test(`whoever expires had no window (seeds from ${FIRST_SEED})`, { timeout: 6 * LENGTH_MS }, async () => {
    await using emulator = await startEmulator();
    await using front = await startTlsFront(certificate, emulator.port);
    await using proxy = await startForwardProxy({ tls: front.port, http: emulator.port });
    for (const name of proxies) delete process.env[name];
    process.env['HTTPS_PROXY'] = proxy.url;
    process.env['NO_PROXY'] = all.map((seed) => `service-${seed}.internal`).join(',');
    const ground = { httpPort: emulator.port, tlsPort: front.port, proxy };
    const worlds = (of: readonly number[], more: { broken?: StepFunction; only?: Only } = {}) =>
      Promise.all(
        of.map((seed) => storm({ emulator, ground, seed, ttlMs: TTL_MS, lengthMs: LENGTH_MS, ...more })),
      );
    const [results, broken] = await Promise.all([
      worlds(seeds),
      worlds(BROKEN.seeds, { broken: BROKEN.step, only: BROKEN.only }),
    ]);
    process.stdout.write(table(results));
    expect(results.filter(({ window }) => window !== undefined)).toEqual([]);
    expect(results.some(({ lapsed }) => !lapsed)).toBe(true);
    const noticed = broken.filter(({ window }) => window !== undefined).length;
    process.stdout.write(`a broken engine: ${noticed} of ${broken.length} worlds show it\n`);
    expect(noticed).toBeGreaterThan(0);
    // Two attempts, and what they leave behind for 4 s.
    expect(Math.max(...results.map(({ mostOpen }) => mostOpen))).toBeLessThanOrEqual(8);
    if (WORLDS >= 20)
      for (const way of Object.keys(WAYS)) expect(results.map((one) => one.way)).toContain(way);
  });
});

function table(results: readonly StormResult[]): string {
  const rows = Object.entries(Object.groupBy(results, ({ way }) => way)).map(([way, of = []]) => {
    const faults = of.flatMap((one) => one.faults);
    const lapsed = of.filter((one) => one.lapsed).length;
    const beats = of.reduce((sum, one) => sum + one.beats, 0);
    const kinds = new Set(faults).size;
    return `${way}: ${of.length} worlds, ${beats} beats, ${faults.length} faults of ${kinds} kinds, ${lapsed} lapsed without a window\n`;
  });
  return rows.join('');
}
