/** What a test controls: the clock, faults, traits, the journal. */
import * as z from 'zod';
import { coerceFields } from '../../wire/coerce.ts';
import { faultSchema, type FaultInput } from '../faults/faults.ts';
import { journalExpectation, journalFilter } from '../journal/entry.ts';
import type { Traits, TraitsInput } from '../state/traits.ts';
import { bodyRoute, route, type AdminParts, type AdminRoute } from './route.ts';

const clockChange = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('freeze'),
    atMs: z.number().optional().describe('Unix ms; absent: now'),
  }),
  z.strictObject({ action: z.literal('resume') }),
  z.strictObject({
    action: z.literal('offset'),
    ms: z.number().describe('distance from real time; 0: real'),
  }),
  z.strictObject({ action: z.literal('advance'), ms: z.number().nonnegative() }),
]);

export function controlRoutes(parts: AdminParts): AdminRoute[] {
  return [...clockRoutes(parts), ...faultRoutes(parts), ...traitRoutes(parts), ...journalRoutes(parts)];
}

function clockRoutes({ clock }: AdminParts): AdminRoute[] {
  const show = () => ({ mode: clock.mode, nowMs: clock.now(), offsetMs: clock.offsetMs });
  return [
    route('GET', '/clock', "the emulator's clock", show),
    bodyRoute('POST', '/clock', 'freeze, resume, offset or advance it', clockChange, async ({ body }) => {
      if (body.action === 'freeze') await clock.freeze(body.atMs);
      else if (body.action === 'resume') clock.resume();
      else if (body.action === 'offset') await clock.offset(body.ms);
      else await clock.advance(body.ms);
      return show();
    }),
  ];
}

function faultRoutes({ faults, clock }: AdminParts): AdminRoute[] {
  return [
    route('GET', '/faults', 'faults in force', () => ({ faults: faults.list() })),
    bodyRoute('POST', '/faults', 'puts a fault in force', faultSchema, async ({ body }) => {
      // The admin API listens on the same port: without an end of its own it could not be lifted again.
      if (body.kind === 'refused' && (body.forMs === undefined || clock.mode === 'frozen')) {
        throw new Error('forMs: over this API `refused` needs an end, and a clock that runs towards it');
      }
      // The answer must leave before the listener closes.
      const later: FaultInput =
        body.kind === 'refused' ? { ...body, startInMs: Math.max(body.startInMs, 50) } : body;
      const handle = await faults.add(later);
      return { faultId: handle.faultId };
    }),
    route('DELETE', '/faults', 'lifts all faults', () => faults.clear()),
    route('DELETE', '/faults/{faultId}', 'lifts one fault', ({ params: { faultId = '' } }) => {
      if (!faults.list().some((fault) => fault.faultId === faultId))
        throw new RangeError(`no fault ${faultId}`);
      return faults.clear(faultId);
    }),
  ];
}

function traitRoutes({ traits }: AdminParts): AdminRoute[] {
  // `set` checks them, and its message has the value that each field got.
  const change = z.unknown();
  const set = ({ body }: { body: unknown }): Traits => traits.set(body as TraitsInput);
  return [
    route('GET', '/traits', 'all traits', () => traits.get()),
    bodyRoute('PUT', '/traits', 'changes the traits that the body names; answers all traits', change, set),
    bodyRoute('POST', '/traits', 'the same', change, set),
  ];
}

function journalRoutes({ journal }: AdminParts): AdminRoute[] {
  return [
    route('GET', '/journal', 'requests that came; filters in the query', ({ query }) => {
      const filter = journalFilter.parse(coerceFields(journalFilter, query));
      return { dropped: journal.dropped, entries: journal.entries(filter) };
    }),
    route('DELETE', '/journal', 'forgets them', () => journal.clear()),
    bodyRoute(
      'POST',
      '/journal/verify',
      'how many came: times, atLeast, atMost',
      journalExpectation,
      ({ body }) => journal.verify(body),
    ),
    bodyRoute(
      'POST',
      '/journal/verify-order',
      'whether they came in this order',
      z.strictObject({ order: z.array(journalFilter) }),
      ({ body }) => journal.verifyOrder(body.order),
    ),
  ];
}
