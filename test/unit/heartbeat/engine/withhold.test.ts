import { describe, expect, it } from 'vitest';
import { deadlineAt, isInTime, nextBeatAt, sendAt } from '../../../../src/heartbeat/engine/state.ts';
import { ACCEPTED, NOT_FOUND, Patient, UNAUTHORIZED } from './patient.ts';

const WITHHELD = { type: 'withhold' } as const;
const RESUME = { type: 'resume' } as const;

describe('a withheld deployment', () => {
  it('is sent nothing, whatever is due, and its attempts are given up', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    patient.nextAttempt();
    patient.tell(WITHHELD);
    expect([patient.state, patient.aborted]).toEqual(['withheld', [2]]);
    for (const event of [
      { type: 'beat-now' },
      { type: 'key', generation: 2 },
      { type: 'timing', timing: patient.beat.timing },
      { type: 'wake', room: true },
    ] as const)
      patient.tell(event);
    patient.mono += 100_000; // and the clocks part
    patient.tell({ type: 'wake', room: true });
    expect(patient.sent).toHaveLength(2);
    expect([sendAt, deadlineAt, nextBeatAt].map((when) => when(patient.beat))).toEqual(
      Array.from({ length: 3 }, () => Infinity),
    );
  });

  it('stays so when its TTL has passed, which is meant', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    patient.tell(WITHHELD);
    patient.pass(60_000);
    patient.tell({ type: 'wake', room: true });
    expect(patient.told('state').map(({ to }) => to)).toEqual(['healthy', 'withheld']);
    patient.tell({ type: 'stop' });
    expect(patient.state).toBe('stopped');
  });

  it.each([
    ['unauthorized', UNAUTHORIZED],
    ['suspect-gone', NOT_FOUND],
  ])('was %s, and is again when it is resumed', (state, outcome) => {
    const patient = new Patient({ ttl: 20_000 }).begun().meet(outcome);
    patient.tell(WITHHELD);
    expect(patient.state).toBe('withheld');
    patient.tell(RESUME);
    expect(patient.state).toBe(state);
  });
});

describe('resumed,', () => {
  it('it is beaten at once, on a new connection, and is in trouble until it is accepted', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    patient.tell(WITHHELD);
    patient.pass(5_000);
    patient.tell(RESUME);
    expect([patient.state, patient.nextIn]).toEqual(['retrying', 0]);
    expect(patient.nextAttempt()).toMatchObject({ attempt: 2, fresh: true });
    expect(patient.told('sent').at(-1)).toMatchObject({ lagMs: 0 });
    patient.pass(50);
    patient.answer(ACCEPTED);
    expect(patient.state).toBe('healthy');
    expect(patient.told('accepted').at(-1)!.marginRatio! * 20_000).toBeCloseTo(20_000 - 200 - 5_100);
  });

  it('too late, it is said to have lapsed, and tried', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    patient.tell(WITHHELD);
    patient.pass(18_700);
    expect(isInTime(patient.beat, patient.mono)).toBe(true);
    patient.pass(200);
    expect(isInTime(patient.beat, patient.mono)).toBe(false);
    patient.pass(2_000);
    patient.tell(RESUME);
    expect(patient.state).toBe('lapsed');
    expect(patient.told('state').at(-1)).toMatchObject({ from: 'withheld', to: 'lapsed' });
    expect(patient.nextAttempt().at).toBe(patient.mono);
  });

  it('where it was not withheld, nothing happens', () => {
    const patient = new Patient({ ttl: 20_000 }).begun();
    const { beat } = patient;
    patient.tell(RESUME);
    expect(patient.beat).toEqual(beat);
  });
});
