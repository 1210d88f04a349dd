/**
 * A history as version 0.1 wrote it: rows packed into bytes, one for each sample of the last three days and one for each
 * minute of the last forty. Its rows become samples, some at a time. Pure, except for the database that is handed in.
 */
import type { DatabaseSync } from 'node:sqlite';
import { isRecord } from '../../contract/is-record.ts';
import type { DatabaseFile } from '../../storage/database-file.ts';
import type { LeftChange } from '../notices.ts';
import { NOTHING_MEASURED, type FleetSample, type Measure } from '../sample.ts';
import { STEPS } from '../workers/measure.ts';
import { UNKNOWN } from '../workers/status.ts';

/** Rows that one step takes over: about 10 ms of work. */
const ROWS_A_STEP = 500;
const MINUTE_MS = 60_000;
const SAMPLE_TIER = 0;
const MINUTE_TIER = 1;
/** A minute with more samples is damaged: the shortest interval is 5 s. */
const MOST_SAMPLES = 600;

/**
 * Hours say again what minutes say, and minutes what samples say. The minute of the first sample stays, because it may have
 * had earlier ones, unless it is the first minute of all.
 */
export const FROM_VERSION_3 = `
  DELETE FROM history WHERE tier NOT IN (${SAMPLE_TIER}, ${MINUTE_TIER});
  DELETE FROM history AS minute WHERE tier = ${MINUTE_TIER} AND at > (
    SELECT min(at) FROM history AS own WHERE own.endpoint = minute.endpoint AND own.tier = ${SAMPLE_TIER}
  ) - iif(at = (
    SELECT min(at) FROM history AS own WHERE own.endpoint = minute.endpoint AND own.tier = ${MINUTE_TIER}
  ), ${MINUTE_MS}, 0);
  DELETE FROM history AS sample WHERE tier = ${SAMPLE_TIER} AND at < (
    SELECT max(at) + ${MINUTE_MS} FROM history AS own WHERE own.endpoint = sample.endpoint AND own.tier = ${MINUTE_TIER}
  );
  INSERT INTO state SELECT 'worker:' || id, body FROM worker;
  INSERT INTO state SELECT 'starts:' || label, json_object('new', json(new), 'cold', json(cold)) FROM (
    SELECT label,
      json_group_array(seconds) FILTER (WHERE origin = 'new') AS new,
      json_group_array(seconds) FILTER (WHERE origin = 'cold') AS cold
    FROM start JOIN endpoint ON endpoint.id = start.endpoint GROUP BY label
  );
  INSERT INTO state SELECT 'known', json_group_array(json_object('id', id, 'name', name, 'label', label))
    FROM (SELECT * FROM known ORDER BY place);
  DROP TABLE worker; DROP TABLE start; DROP TABLE known;
  ALTER TABLE endpoint DROP COLUMN body;
`;

export function hasEarlierRows(db: DatabaseSync): boolean {
  return hasTable(db, 'history');
}

/**
 * One step, within a transaction of the caller. A row that cannot be read is left out.
 *
 * @param add Stores a sample of the endpoint with this id.
 * @returns Whether there may be more.
 */
export function takeEarlierRows(
  db: DatabaseSync,
  add: (endpoint: number, sample: FleetSample) => void,
): boolean {
  const rows = db
    .prepare('SELECT endpoint, tier, at, row FROM history ORDER BY endpoint, tier, at LIMIT ?')
    .all(ROWS_A_STEP);
  const last = rows.at(-1);
  if (!last) {
    db.exec('DROP TABLE history');
    return false;
  }
  for (const { endpoint, at, row } of rows)
    for (const sample of readSamples(row as Uint8Array, Number(at))) add(Number(endpoint), sample);
  const upTo = [last['endpoint'], last['tier'], last['at']].map(Number);
  db.prepare('DELETE FROM history WHERE (endpoint, tier, at) <= (?, ?, ?)').run(...upTo);
  return true;
}

/**
 * Version 0.1 could change parameters by itself, and put the old values back if a change did harm. Changes that were under
 * way are read and removed: nobody watches them now, so they are told.
 */
export function takeLeftChanges(file: DatabaseFile): readonly LeftChange[] {
  if (!hasTable(file.db, 'steering')) return [];
  return file.transaction(() => {
    const rows = file.db
      .prepare("SELECT label, iif(json_valid(body), body, 'null') AS body FROM steering")
      .all();
    file.db.exec('DROP TABLE steering; DROP TABLE IF EXISTS change');
    return rows.flatMap(({ label, body }) => {
      const state: unknown = JSON.parse(String(body));
      // Nothing was ever changed, or the last change is over.
      if (isRecord(state) && state['change'] === undefined) return [];
      const change = isRecord(state) && isRecord(state['change']) ? state['change'] : {};
      const { endpointId, phase, because, from, to } = change;
      const values = { oldValues: isRecord(from) ? from : null, newValues: isRecord(to) ? to : null };
      return phase === 'over' ? [] : [{ endpoint: String(label), endpointId, phase, because, ...values }];
    });
  });
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
}

/** What is stored goes by these orders. */
const MEASURES = 'load load_average capacity_hot capacity_cold requests_working spend_per_hour'.split(
  ' ',
) as Measure[];
const STATUSES =
  'unknown pending creating created loading model_loading starting idle stopping stopped rebooting update_ready update_rebooting update_starting error destroying'.split(
    ' ',
  );

/** Of some samples: how many knew it, their sum and the largest. */
interface Packed {
  readonly known: number;
  readonly sum: number;
  readonly peak: number;
}

/** None if the bytes are no row. */
function readSamples(bytes: Uint8Array, atMs: number): readonly FleetSample[] {
  try {
    return samplesOf(bytes, atMs);
  } catch {
    return [];
  }
}

/** A minute becomes as many samples as it had, with the same sums and peaks. */
function samplesOf(bytes: Uint8Array, atMs: number): FleetSample[] {
  const next = numbersOf(bytes);
  const samples = next();
  if (samples > MOST_SAMPLES) throw new SyntaxError('a minute has too many samples');
  const mask = next();
  const packed = (known: number): Packed => {
    const sum = next();
    return { known, sum, peak: samples === 1 ? sum : next() };
  };
  const measures = MEASURES.map((name, place) => {
    const isKnown = Math.floor(mask / 2 ** place) % 2 === 1;
    return [name, isKnown ? packed(samples === 1 ? 1 : next()) : undefined] as const;
  });
  const workers = Array.from(
    { length: next() },
    () => [STATUSES[next()] ?? UNKNOWN, packed(samples)] as const,
  );
  return Array.from({ length: samples }, (_, index) => ({
    atMs: atMs + Math.floor((index * MINUTE_MS) / samples),
    measures: {
      ...NOTHING_MEASURED,
      ...Object.fromEntries(
        measures.map(([name, all]) => [name, all ? part(all, index, STEPS[name]) : null]),
      ),
    },
    workers: Object.fromEntries(workers.map(([status, all]) => [status, part(all, index, 1) ?? 0])),
  }));
}

/** Of the sample with this place: the first has the peak, and the others share the rest in whole steps. */
function part({ known, sum, peak }: Packed, index: number, steps: number): number | null {
  if (index >= known) return null;
  if (index === 0) return peak / steps;
  const rest = Math.max(0, sum - peak);
  return (Math.floor(rest / (known - 1)) + (index <= rest % (known - 1) ? 1 : 0)) / steps;
}

/** Unsigned LEB128: seven bits a byte, the lowest first. */
function numbersOf(bytes: Uint8Array): () => number {
  let at = 0;
  return () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at];
      if (byte === undefined || value > Number.MAX_SAFE_INTEGER)
        throw new SyntaxError('a row of the history ends in the middle');
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
}
