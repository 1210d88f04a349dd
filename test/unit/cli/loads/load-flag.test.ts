import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLoadFlag, withLoads } from '../../../../src/cli/loads/load-flag.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describe('--load', () => {
  test.each([
    ['chat=constant:500', { shape: 'constant', rate: 500 }],
    [
      'chat=diurnal:500,peak_ratio=8,sizes=fixed',
      { shape: 'diurnal', rate: 500, peak_ratio: 8, sizes: 'fixed' },
    ],
    ['chat=bursts:1.5e3,burst_seconds=30', { shape: 'bursts', rate: 1500, burst_seconds: 30 }],
  ])('%s', async (text, load) => {
    expect(await readLoadFlag(text)).toEqual({ endpoint: 'chat', load });
  });

  test('reads a trace as plan does, with weights of its columns, once or in a loop', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'requests.csv');
    writeFileSync(path, 'timestamp_ms,in_tokens,out_tokens\n1000,10,1\n3500,20,2\n');
    const { load } = await readLoadFlag(`chat=trace:${path},weight.in_tokens=2,loop=no,period_seconds=60`);
    expect(load).toEqual({
      shape: 'trace',
      at_seconds: [0, 2.5],
      work: [20, 40],
      loop: false,
      period_seconds: 60,
    });
  });

  test.each([
    ['chat', 'the load: got "chat"; allowed: ENDPOINT=SHAPE:RATE or ENDPOINT=trace:FILE'],
    ['chat=constant:fast', 'rate: got "fast"; allowed: '],
    ['chat=constant:-1', 'rate: got -1; allowed: '],
    ['chat=sine:5', 'shape: got "sine"; allowed: '],
    ['chat=diurnal:5,peek_ratio=3', 'peek_ratio'],
    ['chat=diurnal:5,peak_ratio', 'a field: got "peak_ratio"; allowed: name=value'],
    ['chat=trace:/nowhere/requests.csv', '/nowhere/requests.csv'],
  ])('%s is refused: %s', async (text, message) => {
    await expect(readLoadFlag(text)).rejects.toThrow(message);
  });

  test('belongs to an endpoint of the seed, of the default one where none is given', async () => {
    const chat = await readLoadFlag('chat=constant:500');
    expect(withLoads({}, [chat]).endpoint_groups).toMatchObject([{ id: 31, load: { rate: 500 } }]);
    const two = {
      endpoint_groups: [
        { id: 1, endpoint_name: 'a' },
        { id: 2, endpoint_name: 'chat' },
      ],
    };
    expect(withLoads(two, [chat]).endpoint_groups).toEqual([
      two.endpoint_groups[0],
      { id: 2, endpoint_name: 'chat', load: chat.load },
    ]);
    expect(() => withLoads({ endpoint_groups: [{ id: 1, endpoint_name: 'a' }] }, [chat])).toThrow(
      'endpoint: got "chat"; allowed: a',
    );
  });
});
