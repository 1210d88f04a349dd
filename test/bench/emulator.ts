/** Heartbeats a second that the emulator answers for each second of its own CPU. Run: node test/bench/emulator.ts */
import { Agent } from 'undici';
import { report } from './figures.ts';
import { startEmulatorProcess } from './processes.ts';

const REQUESTS = 40_000;
const CONNECTIONS = 32;

await using emulator = await startEmulatorProcess({ deployments: [{ id: 42, ttl: 60 }] });
const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
let left = REQUESTS;
async function load(): Promise<void> {
  while ((left -= 1) >= 0) {
    const { body, statusCode } = await agent.request({
      origin: emulator.url,
      path: '/api/v0/deployment/42/heartbeat',
      method: 'POST',
      headers: { authorization: `Bearer ${emulator.apiKey}` },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  }
}
const cpuBefore = emulator.cpuSeconds();
const from = performance.now();
await Promise.all(Array.from({ length: CONNECTIONS }, load));
const seconds = (performance.now() - from) / 1000;
await agent.close();
const cpu = emulator.cpuSeconds() - cpuBefore;
report('emulator', REQUESTS / cpu, `${(REQUESTS / seconds).toFixed(0)}/s beside the load generator`);
