/** `pilotlight emulator --load` as a process: the flag, the seed file, and what then comes to each endpoint. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startPilotlight, type Program } from '../../support/process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The endpoint as the admin API shows it. */
async function shown(program: Program, endpoint: string): Promise<Record<string, unknown>> {
  const [, url] = await program.seen(/^emulator listening on (\S+)/m);
  const answer = await fetch(`${url}/_emulator/endpoint-groups/${endpoint}`);
  return (await answer.json()) as Record<string, unknown>;
}

const SEED = {
  workergroups: [
    { id: 7, endpoint_id: 1 },
    { id: 8, endpoint_id: 2 },
    { id: 9, endpoint_id: 3 },
  ],
  endpoint_groups: [
    { id: 1, endpoint_name: 'chat', load: { shape: 'constant', rate: 1 } },
    { id: 2, endpoint_name: 'draw', load: { shape: 'bursts', rate: 20 } },
    { id: 3, endpoint_name: 'idle' },
  ],
};

test.concurrent('each --load takes the place of the load that its endpoint has in the seed, and the rest stays', async () => {
  using folder = temporaryFolder();
  const [seed, trace] = [join(folder.path, 'seed.json'), join(folder.path, 'requests.csv')];
  writeFileSync(seed, JSON.stringify(SEED));
  writeFileSync(trace, 'timestamp_ms,tokens\n1000,10\n3500,20\n');
  const loads = [
    '--load',
    'chat=diurnal:500,request_work=200',
    '--load',
    `idle=trace:${trace},weight.tokens=2,loop=no`,
  ];
  await using program = startPilotlight(['emulator', '--seed', seed, ...loads]);
  expect(await shown(program, 'chat')).toMatchObject({
    id: 1,
    load: { shape: 'diurnal', rate: 500, request_work: 200 },
  });
  expect(await shown(program, 'draw')).toMatchObject({ load: { shape: 'bursts', rate: 20 } });
  expect(await shown(program, 'idle')).toMatchObject({
    load: { shape: 'trace', requests_per_round: 2, loop: false },
  });
  program.child.kill('SIGINT');
  expect([await program.exit, program.stderr()]).toEqual([0, '']);
});

test.concurrent('without a seed file the load comes to an endpoint of the default seed', async () => {
  await using program = startPilotlight(['emulator', '--load', 'chat=constant:500']);
  expect(await shown(program, 'chat')).toMatchObject({ load: { shape: 'constant', rate: 500 } });
});

test.concurrent.each([
  ['nobody=constant:5', 'error: --load: endpoint: got "nobody"; allowed: chat'],
  ['chat=constant:fast', 'error: --load chat=constant:fast: rate: got "fast"; allowed: '],
])('--load %s is refused before anything listens: %s', async (load, message) => {
  await using program = startPilotlight(['emulator', '--load', load]);
  expect([await program.exit, program.stdout()]).toEqual([2, '']);
  expect(program.stderr()).toContain(message);
});
