import { describe, expect, test } from 'vitest';
import { readLoadFlag, withLoads } from '../../../src/cli/load-flag.ts';

describe('--load', () => {
  test.each([
    ['chat=constant:500', { shape: 'constant', rate: 500 }],
    [
      'chat=diurnal:500,peak_ratio=8,sizes=fixed',
      { shape: 'diurnal', rate: 500, peak_ratio: 8, sizes: 'fixed' },
    ],
    ['chat=bursts:1.5e3,burst_seconds=30', { shape: 'bursts', rate: 1500, burst_seconds: 30 }],
  ])('%s', (text, load) => {
    expect(readLoadFlag(text)).toEqual({ endpoint: 'chat', load });
  });

  test.each([
    ['chat', 'the load: got "chat"; allowed: ENDPOINT=SHAPE:RATE, then fields'],
    ['chat=constant:fast', 'rate: got "fast"; allowed: '],
    ['chat=constant:-1', 'rate: got -1; allowed: '],
    ['chat=sine:5', 'shape: got "sine"; allowed: '],
    ['chat=diurnal:5,peek_ratio=3', 'peek_ratio'],
    ['chat=diurnal:5,peak_ratio', 'a field: got "peak_ratio"; allowed: name=value'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => readLoadFlag(text)).toThrow(message);
  });

  test('belongs to an endpoint of the seed, of the default one where none is given', () => {
    const chat = readLoadFlag('chat=constant:500');
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
