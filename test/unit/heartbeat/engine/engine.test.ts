import { describe, expect, it } from 'vitest';
import { timingFor } from '../../../../src/heartbeat/engine/formulas.ts';
import { expiresAt, type Event, type AttemptOutcome } from '../../../../src/heartbeat/engine/state.ts';
import { ACCEPTED, NOT_FOUND, Patient, REFUSED, UNAUTHORIZED, urgent } from './patient.ts';

/** What a timer may be late by at a TTL of 20 s: the beat is due so much before the interval ends. */
const TICK = 20_000 / 60;

describe('a healthy heartbeat', () => {
  it('beats at once, and then once an interval after the last acknowledged send', () => {
    const patient = new Patient({ ttl: 20_000 });
    expect(patient.state).toBe('starting');
    expect(patient.nextIn).toBe(0);
    patient.begun();
    expect(patient.state).toBe('healthy');
    const [first] = patient.sent;
    expect(patient.nextAttempt().at - first!.at).toBeCloseTo(4000 - TICK, 5);
  });

  it('jitters the interval only to earlier', () => {
    const patient = new Patient({ ttl: 20_000, random: 0.999 }).begun();
    const [first] = patient.sent;
    expect(patient.nextAttempt().at - first!.at).toBeCloseTo(3600 - TICK, -1);
  });

  it('reports how close the deployment came to its expiry', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    patient.nextAttempt();
    patient.pass(800);
    patient.answer(ACCEPTED);
    const [first, second] = patient.told('accepted');
    expect(first).not.toHaveProperty('marginRatio');
    expect(second).toMatchObject({ latencyMs: 800 });
    expect(second).toHaveProperty('marginRatio', expect.closeTo((15_000 + TICK) / 20_000, 6));
  });
});

describe('after a failure', () => {
  it('retries with growing pauses, never less than 1 s apart, and for ever', () => {
    const patient = new Patient({ ttl: 300_000 }).begun();
    const gaps: number[] = [];
    for (let failure = 0; failure < 200; failure += 1) {
      const { at } = patient.nextAttempt();
      patient.answer(REFUSED);
      if (failure > 0) gaps.push(at);
    }
    const differences = gaps.map((at, index) => at - (gaps[index - 1] ?? at)).slice(1);
    expect(differences.slice(0, 3)).toEqual([7500, 15_000, 15_000]);
    expect(Math.max(...differences)).toBe(15_000);
    expect(patient.state).toBe('lapsed');
    expect(patient.told('state').map(({ to }) => to)).toEqual(['healthy', 'retrying', 'urgent', 'lapsed']);
    patient.meet(ACCEPTED);
    expect(patient.state).toBe('healthy');
    expect(patient.told('accepted').at(-1)!.marginRatio).toBeLessThan(0);
  });

  it('does not reuse the connection that failed, until an attempt succeeds', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    expect(patient.nextAttempt().fresh).toBe(false);
    patient.answer({ type: 'failed', reason: 'reset' });
    expect(patient.nextAttempt().fresh).toBe(true);
    patient.answer(ACCEPTED);
    expect(patient.nextAttempt().fresh).toBe(false);
  });
});

describe('a slow attempt', () => {
  it('is overdue after A; the machine goes on but lets it live, and its answer counts from its own send', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    const slow = patient.nextAttempt();
    patient.pass(1000);
    expect(patient.told('overdue')).toHaveLength(1);
    expect(patient.aborted).toEqual([]);
    const next = patient.nextAttempt();
    expect(next).toMatchObject({ fresh: true, at: slow.at + 2000 });
    patient.pass(500);
    patient.answer(ACCEPTED, slow.attempt);
    expect(patient.remaining).toBe(20_000 - 200 - 2500);
    expect(patient.aborted).toEqual([next.attempt]);
    expect(patient.state).toBe('healthy');
  });

  it('is given up when the next one is overdue too, and its answer then changes nothing', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    const first = patient.nextAttempt();
    patient.nextAttempt();
    patient.pass(999);
    expect(patient.aborted).toEqual([]);
    patient.pass(1);
    expect(patient.aborted).toEqual([first.attempt]);
    expect(patient.told('failed')).toEqual([{ type: 'failed', attempt: first.attempt, reason: 'timeout' }]);
    const { beat } = patient;
    patient.answer(ACCEPTED, first.attempt);
    expect(patient.beat).toEqual(beat);
  });

  it('is given up after 2A + B whatever else happens', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    const first = patient.nextAttempt();
    patient.meet({ type: 'throttled', retryAfterMs: 9000 });
    patient.pass(first.at + 3100 - patient.mono);
    expect(patient.aborted).toEqual([first.attempt]);
  });

  it('that is refused after it is overdue does not put off the next one', () => {
    const patient = new Patient({ ttl: 300_000 }).begun();
    patient.nextAttempt();
    patient.pass(10_000);
    const { nextIn } = patient;
    patient.answer({ type: 'throttled' });
    expect(patient.nextIn).toBe(nextIn);
  });
});

describe('an urgent heartbeat', () => {
  it('sends a second attempt on a new connection after the p95 latency, at most two at a time', () => {
    const patient = urgent();
    const first = patient.nextAttempt();
    const hedge = patient.nextAttempt();
    expect(hedge).toMatchObject({ at: first.at + 1000, fresh: true }); // p95 is 50 ms, the spacing 1 s
    expect(patient.told('sent').at(-1)).toMatchObject({ hedge: true });
    patient.pass(8999);
    expect(patient.beat.inFlight).toHaveLength(2);
    expect(patient.sent.at(-1)).toBe(hedge);
  });

  it('does not hedge while there is time', () => {
    const patient = new Patient({ ttl: 300_000 }).begun();
    patient.nextAttempt();
    patient.pass(9999);
    expect(patient.beat.inFlight).toHaveLength(1);
  });
});

describe('429', () => {
  it('is followed by a wait of up to B in proportion to the time that is left, and of 1 s at least', () => {
    const patient = new Patient({ ttl: 300_000, random: 1 }).begun();
    const { life, rescue, backoff } = patient.beat.timing;
    const waits: string[] = [];
    while (patient.remaining > rescue) {
      patient.meet({ type: 'throttled', retryAfterMs: 70_000, thresholdMs: 3000 });
      waits.push((patient.nextIn / 1000).toFixed(1));
      expect(patient.nextIn).toBeLessThanOrEqual(backoff);
      expect(patient.remaining).toBeLessThan(life);
    }
    expect(patient.state).toBe('throttled');
    expect(waits.slice(0, 5).join(' ')).toBe('11.9 11.2 10.6 10.0 9.4');
    expect(waits).toContain('1.0');
  });

  // A dot is an accepted heartbeat, an x a refused one. Below each dot is the interval that follows it, in seconds.
  it.each([
    [60_000, '.    x.   .    .    .    .    .    .    .', '12    24  22   19   17   16   14   13   12'],
    [60_000, 'xx.   .    .    .    .    .    .    .', '  28  28   28   28   28   28   26   23'],
    [
      60_000,
      'xxxxx.   .    .    .    .    .    .    .    .',
      '     28  28   28   28   28   28   28   27   24',
    ],
    [300_000, '.    x.   xx.    .', '60    120   155  155'],
    [undefined, '.    x.   xx.', '20    20    20'],
  ])(
    'of a TTL of %s ms stretches the interval, and acceptance takes it back: %s',
    (ttl, outcomes, picture) => {
      const patient = new Patient({ ...(ttl !== undefined && { ttl }) });
      let drawn = '';
      for (const [place, outcome] of outcomes.split('').entries()) {
        if (outcome === ' ') continue;
        patient.meet(outcome === 'x' ? { type: 'throttled', retryAfterMs: 1_000 } : ACCEPTED);
        const { beat } = patient;
        if (outcome === '.')
          drawn = drawn.padEnd(place) + ((beat.dueAt - beat.basis + beat.timing.tick) / 1000).toFixed(0);
      }
      expect(drawn).toBe(picture);
    },
  );

  it.each([
    [20_000, false, false],
    [60_000, false, true],
    [60_000, true, false],
    [300_000, true, true],
  ])(
    'that names no time, at %s ms, of a limited key %s, stretches the interval: %s',
    (ttl, isKeyLimited, isStretched) => {
      const patient = new Patient({ ttl }).begun().meet({ type: 'throttled', isKeyLimited }).meet(ACCEPTED);
      expect(patient.nextIn > patient.beat.timing.interval).toBe(isStretched);
    },
  );

  it('has stretched an interval that the same TTL, said again, does not shorten', () => {
    const patient = new Patient({ ttl: 60_000 })
      .begun()
      .meet({ type: 'throttled', thresholdMs: 1_000 })
      .meet(ACCEPTED);
    expect(patient.nextIn).toBeGreaterThan(13_000);
    const { nextIn } = patient;
    patient.tell({ type: 'timing', timing: patient.beat.timing });
    expect(patient.nextIn).toBe(nextIn);
  });

  it('may be waited for until two attempts have just room, and then until one has', () => {
    const patient = new Patient({ ttl: 300_000 }).begun().meet({ type: 'throttled' });
    const { beat } = patient;
    expect(beat.latestAt).toBeCloseTo(expiresAt(beat) - 38_000, 6);
    patient.mono = beat.latestAt;
    patient.wall += beat.latestAt - beat.dueAt;
    patient.tell({ type: 'wake', room: true, heldUntil: patient.mono + 100_000 });
    expect(patient.told('wait-cut-short')).toEqual([{ type: 'wait-cut-short', byMs: 100_000 }]);
    patient.answer({ type: 'throttled' });
    expect(patient.beat.latestAt).toBeCloseTo(expiresAt(patient.beat) - 13_000, 6);
  });

  it('of one that may have lapsed is waited for an interval at a time: there is nothing left to lose', () => {
    const patient = new Patient({ ttl: 60_000 }).begun();
    patient.nextAttempt();
    patient.wall += 120_000; // somebody may have set the clock
    patient.answer(REFUSED);
    patient.meet({ type: 'throttled', retryAfterMs: 500_000 });
    expect(patient.state).toBe('lapsed');
    expect(patient.beat.latestAt - patient.mono).toBe(12_000);
  });

  it('without a TTL is waited for an interval at a time: the TTL may be short', () => {
    const patient = new Patient({}).begun().meet({ type: 'throttled', retryAfterMs: 86_400_000 });
    expect(patient.beat.latestAt - patient.mono).toBe(20_000);
  });

  it('ends hedging until the next success', () => {
    const patient = urgent().meet({ type: 'throttled', thresholdMs: 2000 });
    patient.nextAttempt();
    patient.pass(9999);
    expect(patient.beat.inFlight).toHaveLength(1);
    patient.answer(ACCEPTED);
    expect(patient.beat.hedging).toBe(true);
  });
});

describe('401', () => {
  it('reads the key source, watches it, and probes once per B meanwhile, jittered to earlier', () => {
    const patient = new Patient({ ttl: 60_000, random: 0.5 }).begun().meet(UNAUTHORIZED);
    expect(patient.state).toBe('unauthorized');
    expect(patient.keyReads).toBe(1);
    expect(patient.nextIn).toBe(2700);
    patient.pass(2699);
    expect(patient.keyReads).toBe(3);
  });

  it('with a new key beats at once', () => {
    const patient = new Patient({ ttl: 60_000 }).begun().meet(UNAUTHORIZED);
    patient.pass(1500);
    patient.tell({ type: 'key', generation: 2 });
    expect(patient.nextIn).toBeLessThanOrEqual(0);
    expect(patient.beat.latestAt).toBe(patient.mono);
    patient.nextAttempt();
    expect(patient.beat.inFlight.at(-1)!.keyGeneration).toBe(2);
  });
});

/** Gone a while ago: 3 s after its second beat was refused, which was 11 s after the first one. */
function gone(): Patient {
  const patient = new Patient({ ttl: 60_000 }).begun();
  patient.meet(NOT_FOUND).meet(NOT_FOUND);
  expect(patient.state).toBe('gone');
  return patient;
}

/** After each of so many refusals. */
function waitsOf(patient: Patient, refusals: number): number[] {
  return Array.from({ length: refusals }, () => patient.meet(NOT_FOUND).nextIn);
}

describe('404', () => {
  it('said twice, at least B apart, makes the deployment gone, which is asked on at its interval', () => {
    const patient = new Patient({ ttl: 60_000 }).begun().meet(NOT_FOUND);
    expect(patient.state).toBe('suspect-gone');
    expect(patient.nextIn).toBe(3000);
    patient.meet(NOT_FOUND);
    expect(patient.state).toBe('gone');
    expect(patient.nextIn).toBe(11_000); // I less q, from send to send
    expect(patient.told('state').at(-1)).toMatchObject({ from: 'suspect-gone', to: 'gone' });
  });

  it('from one address of several is not believed, however often it comes, until another one says so', () => {
    const patient = new Patient({ ttl: 60_000 }).begun();
    const from = (address: string): AttemptOutcome => ({ type: 'not-found', address, addresses: 2 });
    const waits: number[] = [];
    for (let said = 0; said < 5; said += 1) {
      patient.meet(from('one'));
      waits.push(patient.nextIn);
      expect(patient.state).toBe('suspect-gone');
    }
    expect(waits).toEqual([3_000, 1_500, 3_000, 3_000, 3_000]);
    patient.meet(from('another'));
    expect(patient.state).toBe('gone');
  });

  it('from one address of several is believed once the TTL has passed', () => {
    const patient = new Patient({ ttl: 60_000 }).begun();
    while (patient.remaining > 0) {
      expect(patient.state).not.toBe('gone');
      patient.meet({ type: 'not-found', address: 'one', addresses: 2 });
    }
    expect(patient.state).toBe('gone');
    expect(patient.nextIn).toBe(29_000);
  });

  it('from another address counts anew after a success', () => {
    const patient = new Patient({ ttl: 60_000 }).begun();
    for (const address of ['one', 'another']) {
      patient.meet({ type: 'not-found', address, addresses: 2 });
      expect(patient.state).toBe('suspect-gone');
      patient.meet(ACCEPTED);
    }
    expect(patient.state).toBe('healthy');
  });

  it('of a gone deployment whose TTL has passed is asked for every 30 s, and stays the word for it', () => {
    const patient = gone();
    expect(waitsOf(patient, 6)).toEqual([11_000, 11_000, 11_000, 11_000, 29_000, 29_000]);
    patient.pass(300_000);
    expect(patient.state).toBe('gone');
    expect(patient.told('state').map(({ to }) => to)).not.toContain('lapsed');
  });

  it('without a TTL is asked for at the interval as long as the assumed TTL lasts, then every 30 s', () => {
    const waits = waitsOf(new Patient({}).begun(), 8);
    expect(waits).toEqual([5000, 19_000, 19_000, 19_000, 19_000, 29_000, 29_000, 29_000]);
  });

  it.each([
    ['a refused connection', REFUSED],
    ['a 429', { type: 'throttled' }],
    ['a 401', UNAUTHORIZED],
  ] as [string, AttemptOutcome][])('followed by %s keeps the slow rhythm and the name', (_what, outcome) => {
    const patient = gone();
    patient.meet(outcome);
    expect(patient.state).toBe('gone');
    expect(patient.nextIn).toBe(11_000);
  });

  it('followed by a hang keeps the slow rhythm, and nothing is sent beside it', () => {
    const patient = gone();
    const { at } = patient.nextAttempt();
    expect(patient.nextAttempt().at - at).toBe(11_000);
  });

  it('of a gone deployment is forgotten when a beat is accepted', () => {
    const patient = gone();
    patient.meet(ACCEPTED);
    expect(patient.state).toBe('healthy');
    expect(patient.told('accepted').at(-1)!.marginRatio).toBeGreaterThan(0);
    patient.meet(NOT_FOUND);
    expect(patient.state).toBe('suspect-gone');
  });

  it('of a deployment that is made again after its time is no near miss of the new one', () => {
    const patient = gone();
    patient.pass(200_000);
    patient.meet(ACCEPTED);
    expect(patient.state).toBe('healthy');
    expect(patient.told('accepted').at(-1)).not.toHaveProperty('marginRatio');
  });

  it.each([
    ['beat-now', { type: 'beat-now' }],
    ['a new key', { type: 'key', generation: 2 }],
    ['a TTL that is learned', { type: 'timing', timing: timingFor({ ttl: 90_000, interval: 'auto' }) }],
  ] as [string, Event][])('is doubted at once on %s', (_what, event) => {
    const patient = gone();
    patient.pass(2000);
    patient.tell(event);
    expect(patient.nextIn).toBeLessThanOrEqual(0);
  });
});

describe('clocks', () => {
  it('an answer that was on its way during a suspend does not put off the beat that is due after it', () => {
    const patient = new Patient({ ttl: 300_000 }).begun();
    patient.nextAttempt();
    patient.wall += 140_000; // the monotonic clock stands still while the machine sleeps
    patient.answer(ACCEPTED);
    expect(patient.remaining).toBeLessThan(300_000 - 140_000);
    expect(patient.nextIn).toBeLessThanOrEqual(1000); // the spacing, not the interval of 60 s
  });

  it('set back and then suspended do not add up to more remaining time', () => {
    const patient = new Patient({ ttl: 300_000 }).begun();
    patient.wall -= 3_600_000;
    patient.tell({ type: 'wake', room: false });
    patient.wall += 100_000;
    patient.tell({ type: 'wake', room: false });
    expect(patient.remaining).toBe(300_000 - 3000 - 50 - 100_000);
  });
});

it('without room for another request waits with sending, but goes on with everything else', () => {
  const patient = new Patient({ ttl: 20_000 }).begun();
  patient.nextAttempt();
  patient.mono += 30_000;
  patient.wall += 30_000;
  patient.tell({ type: 'wake', room: false });
  expect([patient.sent.length, patient.state]).toEqual([2, 'lapsed']);
  patient.tell({ type: 'wake', room: true });
  expect(patient.sent).toHaveLength(3);
});
