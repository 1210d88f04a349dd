/** Which of several addresses is connected to, on virtual time. */
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AddressBook } from '../../../../src/client/transport/address-book.ts';
import { Race } from '../../../../src/client/transport/connection.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => vi.useRealTimers());

type Connected = (...args: [null, Socket] | [Error, null]) => void;
const failed = (code: string) => Object.assign(new Error(code), { code });

class Scene {
  readonly book = new AddressBook();
  readonly sockets: Record<string, Socket> = {};
  readonly answers: Record<string, Connected> = {};
  readonly ended = vi.fn<Connected>();
  readonly race: Race;

  constructor(addresses: readonly string[]) {
    this.book.resolved(addresses, performance.now());
    this.race = new Race({
      book: this.book,
      subject: undefined,
      busy: () => new Set(),
      open: (address, onConnect) => {
        if (address === 'bad') throw failed('EINVAL');
        this.answers[address] = onConnect;
        return (this.sockets[address] = new Socket());
      },
      callback: this.ended,
    });
  }

  connect(address: string): void {
    this.answers[address]?.(null, this.sockets[address] as Socket);
  }

  /** `-`: the socket was destroyed; then why its address failed. */
  get found() {
    return this.book
      .states(0)
      .map(
        ({ address, failure }) =>
          address + (this.sockets[address]?.destroyed ? '-' : '') + (failure?.reason ?? ''),
      );
  }
}

test('the next address starts after 250 ms, and the one that was too slow is avoided from then on', () => {
  const scene = new Scene(['a', 'b', 'c']);
  vi.advanceTimersByTime(249);
  expect([...scene.race.addresses]).toEqual(['a']);
  vi.advanceTimersByTime(1);
  expect([...scene.race.addresses]).toEqual(['a', 'b']);
  vi.advanceTimersByTime(150);
  scene.connect('b');
  expect(scene.ended.mock.calls).toEqual([[null, scene.sockets['b']]]);
  expect(scene.found).toEqual(['a-slow to connect', 'b', 'c']);
  // The other one comes too late, and the next race knows how long it takes to connect.
  scene.connect('a');
  expect([scene.ended.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  expect(scene.book.patience({ address: 'c', good: true })).toBe(300);
});

test('an address that started later and lost is not marked', () => {
  const scene = new Scene(['a', 'b']);
  vi.advanceTimersByTime(300);
  scene.connect('a');
  expect(scene.found).toEqual(['a', 'b-']);
});

test('of two that connect the older one gives way after 2 s', () => {
  const scene = new Scene(['a', 'b', 'c']);
  vi.advanceTimersByTime(250 + 1_999);
  expect([...scene.race.addresses]).toEqual(['a', 'b']);
  vi.advanceTimersByTime(1);
  expect([...scene.race.addresses]).toEqual(['b', 'c']);
  expect(scene.found).toEqual(['a-slow to connect', 'b', 'c']);
  vi.advanceTimersByTime(60_000);
  expect([...scene.race.addresses]).toEqual(['b', 'c']);
});

test('after an error the next one starts at once; if none is left, the first error is told', () => {
  const scene = new Scene(['a', 'bad', 'b']);
  const refused = failed('ECONNREFUSED');
  scene.answers['a']?.(refused, null);
  expect([...scene.race.addresses]).toEqual(['b']);
  scene.answers['b']?.(failed('ETIMEDOUT'), null);
  expect(scene.ended.mock.calls).toEqual([[refused, null]]);
  expect(scene.found).toEqual(['arefused', 'badother', 'bunreachable']);
  new Scene([]).ended.mock.calls.forEach(([error]) => expect(error?.message).toBe('no address is left'));
});

test('the error of one leaves the other its time, and a race that was ended tells nothing', () => {
  const scene = new Scene(['a', 'b', 'c']);
  vi.advanceTimersByTime(250);
  scene.answers['a']?.(failed('ECONNREFUSED'), null);
  expect([...scene.race.addresses]).toEqual(['b']);
  vi.advanceTimersByTime(250);
  expect([...scene.race.addresses]).toEqual(['b', 'c']);
  scene.race.end();
  scene.connect('b');
  expect([scene.ended.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
});
