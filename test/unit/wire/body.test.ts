import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { BoundedBody, readBody } from '../../../src/wire/body.ts';

const PIECES = ['ab', 'cd', 'e'].map((text) => Buffer.from(text));

test('a body up to the bound is read whole, also when it has exactly that many bytes', async () => {
  const { bytes, complete } = await readBody(Readable.from(PIECES), 5);
  expect([bytes.toString(), complete]).toEqual(['abcde', true]);
});

test('of a larger one the pieces before the bound are kept, and the stream is read no further', async () => {
  const stream = Readable.from(PIECES);
  const { bytes, complete } = await readBody(stream, 3);
  expect([bytes.toString(), complete, stream.destroyed]).toEqual(['ab', false, true]);
});

test('pieces that follow one that was too large are left out, however small they are', () => {
  const body = new BoundedBody(3);
  expect(PIECES.map((piece) => body.add(piece))).toEqual([true, false, false]);
  expect(body.bytes().toString()).toBe('ab');
});
