import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openTrace } from '../../../../src/cli/plan/trace.ts';
import { parseTime, zoneOffset, type TraceOptions } from '../../../../src/cli/plan/columns.ts';
import type { Arrival } from '../../../../src/scaling/planner/load.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

type Options = Omit<TraceOptions, 'weight'> & { readonly weights?: Record<string, number> };

async function read(
  text: string | Uint8Array,
  { weights = {}, ...options }: Options = {},
): Promise<Arrival[]> {
  using folder = temporaryFolder();
  const path = join(folder.path, 'trace.csv');
  writeFileSync(path, text);
  const { arrivals } = await openTrace(path, { ...options, weight: new Map(Object.entries(weights)) });
  const all: Arrival[] = [];
  for await (const piece of arrivals) for (const arrival of piece) all.push(arrival);
  return all;
}

describe('a trace', () => {
  test('takes columns by name and weighs them, times from the first request on', async () => {
    const text = 'id,when,in,out\n1,100.5,10,2\r\n2,101,20,3\n\n3,103,0,1';
    expect(await read(text, { timeColumn: 'when', weights: { in: 0.5, out: 2 } })).toEqual([
      { atSeconds: 0, work: 9 },
      { atSeconds: 0.5, work: 16 },
      { atSeconds: 2.5, work: 2 },
    ]);
  });

  test('knows the usual names, and weighs tokens read less than tokens written', async () => {
    expect(await read('TIMESTAMP,ContextTokens,GeneratedTokens\n5.0,100,7\n')).toEqual([
      { atSeconds: 0, work: 17 },
    ]);
    expect(await read('\uFEFFtime,work,user\n5.5,100,7\n')).toEqual([{ atSeconds: 0, work: 100 }]);
    expect(await read('at,prompt,num_prefill_tokens,output_length\n5.5,Hi!,10,7\n')).toEqual([
      { atSeconds: 0, work: 8 },
    ]);
    expect(await read('ts,user\n5.5,100\n', { requestWork: 3 })).toEqual([{ atSeconds: 0, work: 3 }]);
  });

  test('takes quoted fields, and pieces of a file larger than one read of it', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `${index},"a, ""b""",1`);
    const arrivals = await read(`at_s,"what, now",work\n${rows.join('\n')}`);
    expect(arrivals).toHaveLength(20_000);
    expect(arrivals.at(-1)).toEqual({ atSeconds: 19_999, work: 1 });
  });

  test.each<[of: string, text: string, seconds: number, options?: Options]>([
    ['its name', 'timestamp_ms,work\n1500,1\n3000,1\n', 1.5],
    ['its name, though an epoch says otherwise', 'ts_s,work\n1700000000000,1\n1700000000003,1\n', 3],
    ['an epoch in ms', 'time,work\n1700000000000,1\n1700000002500,1\n', 2.5],
    ['an epoch in us', 'time,work\n1700000000000000,1\n1700000000500000,1\n', 0.5],
    ['an epoch in ns', 'time,work\n1700000000000000000,1\n1700000001000000000,1\n', 1],
    ['an epoch in s', 'time,work\n1700000000,1\n1700000002,1\n', 2],
    ['the flag, before its name', 'time_ms,work\n1,1\n3,1\n', 2, { timeUnit: 's' }],
  ])('reads times in the unit of %s', async (_of, text, seconds, options) => {
    expect((await read(text, options)).at(-1)?.atSeconds).toBeCloseTo(seconds, 9);
  });

  test('may last 400 days', async () => {
    expect(await read('time_s,work\n100,1\n34560100,1\n')).toHaveLength(2);
  });

  test('takes quoted fields that hold line breaks, as a column of prompts does', async () => {
    const text = 'time_s,prompt,work,{rest\r\n1,"two\r\nlines, ""both"" quoted\n",3,\r\n2,one,4,""\r\n';
    expect(await read(text)).toEqual([
      { atSeconds: 0, work: 3 },
      { atSeconds: 1, work: 4 },
    ]);
  });

  test.each<[text: string, message: string, options?: Options]>([
    ['', 'the file is empty'],
    ['a,b\n1,2\n', 'which column is the time? Say --time-column NAME; the columns are a, b'],
    ['a,b\n1,2\n', 'no column c; the columns are a, b', { timeColumn: 'c' }],
    ['time,b\n1,2\n', 'how much work is a request? Say --weight COLUMN=UNITS'],
    ['time,b\n1,2\n', 'no column c to weigh', { weights: { c: 1 } }],
    [
      '[\n{"time":1}]',
      'trace.csv: which column is the time? Say --time-column NAME; JSON must have one object a line',
    ],
    ['time;work\n1;2\n', 'the only column is time;work; columns are separated by commas only'],
    ['time,work\nnoon,2\n', 'line 2: column 1 (time): got "noon"; allowed: a number (of s; --time-unit'],
    [
      'time,work\n0,2\n450000,2\n',
      'are the times in column time seconds or milliseconds? Say --time-unit s or --time-unit ms',
    ],
    [
      'time_s,work\n0,2\n1,2\n1700000000,2\n1700000001,2\n',
      'line 4: column 1 (time_s): got "1700000000"; allowed: a time at most 400 days after the first one, and this is ' +
        '19676 days after it; is one of them in seconds and the other in milliseconds, or a 0',
    ],
    ['time_s,work\n100,2\n34560101,2\n', 'line 3: column 1 (time_s): got "34560101"'],
    ['time,work\n2026-01-01T00:00:00+16:00,2\n', 'got "2026-01-01T00:00:00+16:00"; allowed: a number'],
    ['time,work\n2026-01-01T00:00:00+02:60,2\n', 'got "2026-01-01T00:00:00+02:60"; allowed: a number'],
    ['time_s,work\n1,-2\n', 'line 2: column 2 (work): got "-2"; allowed: a number of at least 0'],
    ['time_s,work\n1,2k\n', 'line 2: column 2 (work): got "2k"; allowed: a number of at least 0'],
    ['time_s,work\n1,\n', 'line 2: column 2 (work): got ""; allowed: a number of at least 0'],
    [
      'time_s,work\n1,1e308\n',
      'line 2: a request of 1e+308 units of work; allowed: at most 1000000000000000',
    ],
    ['time_s,work\n1\n', 'line 2: 1 fields, where the first line has 2'],
    ['time_s,work\n\n1,2,3\n', 'line 3: 3 fields, where the first line has 2; quote fields that hold commas'],
    ['time_s,text,work\n0,"a\nb",1\n1,"c,2\n', 'line 4: a quote opens here that nothing closes'],
    ['time_s,text,work\n0,"a\nb",1\n1,c,x\n', 'line 4: column 3 (work): got "x"'],
  ])('says what is wrong with %j', async (text, message, options) => {
    await expect(read(text, options)).rejects.toThrow(message);
  });

  test('may be lines of JSON, whose fields lie in one another, and packed', async () => {
    const rows = [
      {
        created_at: '2026-01-01T00:00:02Z',
        usage: { prompt_tokens: 100, completion_tokens: 7 },
        text: 'a "b',
      },
      { created_at: '2026-01-01T00:00:00Z', usage: { prompt_tokens: 10, completion_tokens: 1 } },
    ];
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    const arrivals = [
      { atSeconds: 0, work: 2 },
      { atSeconds: 2, work: 17 },
    ];
    expect(await read(text)).toEqual(arrivals);
    expect(await read(gzipSync(text))).toEqual(arrivals);
    await expect(read(`${text}\n[]`)).rejects.toThrow('line 3: is not an object in JSON');
    await expect(read(gzipSync(text).subarray(0, 40))).rejects.toThrow('unexpected end of file');
  });

  test('counts tokens once of a gateway that says them again deeper in its row', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 7 };
    const details = {
      prompt_tokens_details: { cached_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    const liteLlm = {
      total_tokens: 107,
      ...usage,
      startTime: '2026-01-01T00:00:00Z',
      endTime: '2026-01-01T00:00:09Z',
      metadata: { usage_object: { ...usage, ...details }, max_tokens: 4096 },
      a: { input_tok: 900, out_tok: 900 },
    };
    const openAi = { created: 1_700_000_000, usage: { ...usage, total_tokens: 107, ...details } };
    for (const row of [liteLlm, openAi])
      expect(await read(JSON.stringify(row))).toEqual([{ atSeconds: 0, work: 17 }]);
  });

  test("reads the arrays of vLLM's bench, a request for each of their places", async () => {
    const run = { input_lens: [100, 20], output_lens: [7, 3], start_times: [50.5, 51], ttfts: [0.1, 0.2] };
    expect(await read(JSON.stringify(run))).toEqual([
      { atSeconds: 0, work: 17 },
      { atSeconds: 0.5, work: 5 },
    ]);
  });

  test('knows by the time zone when clocks change, for dates that say no offset', async () => {
    const text = 'time,work\n2024-03-31 01:59:59,1\n2024-03-31 03:00:01,1\n2024-03-31 01:00:02+00,1\n';
    const timeZone = zoneOffset('Europe/Berlin');
    expect((await read(text, { timeZone })).map(({ atSeconds }) => atSeconds)).toEqual([0, 2, 3]);
    expect(zoneOffset('America/St_Johns')(0)).toBe(-3.5 * 3_600);
    expect(() => zoneOffset('Berlin')).toThrow(RangeError);
  });

  test.each([
    [
      'Mooncake',
      (at: number) => `{"timestamp":${at},"input_length":1,"output_length":1,"hash_ids":[0]}\n`,
      0.003,
    ],
    ['BurstGPT', (at: number) => `${at},a,1,1,b\n`, 3],
  ])('the unit of %s is known', async (name, row, seconds) => {
    const head = name === 'BurstGPT' ? 'Timestamp,Model,Request tokens,Response tokens,Log Type\n' : '';
    expect((await read(head + row(0) + row(3))).at(-1)?.atSeconds).toBeCloseTo(seconds, 9);
  });

  test('is sorted, as far as its rows are not too far from their places', async () => {
    const shuffled = Array.from({ length: 250 * 1_024 }, (_, index) => `${(index ^ 1023) / 10},1`);
    const arrivals = await read(`time,work\n${shuffled.join('\n')}`);
    expect(arrivals.every(({ atSeconds }, index) => atSeconds === index / 10)).toBe(true);
    await expect(read(`time,work\n0.5,1\n${shuffled.join('\n')}\n0.1,1`)).rejects.toThrow(
      'line 256003: column 1 (time): got "0.1"; allowed: a row at most 100,000 rows out of order',
    );
  });

  test('shows only the start of a first line that is no header', async () => {
    await expect(read(`${'a,'.repeat(999)}b`)).rejects.toThrow(/the columns are .{200}…$/);
  });

  test('gives up on a line or a quoted field that never ends, long before memory does', async () => {
    const tooLong = 'line 2: longer than 33,554,432 characters; is it a CSV, and is every quote closed?';
    await expect(read(`time_s,work\n${'9'.repeat(3.4e7)}`)).rejects.toThrow(tooLong);
    await expect(read(`time_s,work\n1,"${`${'9'.repeat(99)}\n`.repeat(3.4e5)}`)).rejects.toThrow(tooLong);
  });

  test.each(['utf16le', 'latin1'] as const)(
    'that a spreadsheet saved in %s is no UTF-8',
    async (encoding) => {
      const bytes = Buffer.from('\uFEFFzeit_größe,work\n0,1\n', encoding);
      await expect(read(bytes)).rejects.toThrow('/trace.csv: its first line is no text in UTF-8');
    },
  );

  test('says so when there is no such file', async () => {
    await expect(openTrace('/nowhere/trace.csv', {})).rejects.toThrow('/nowhere/trace.csv: ENOENT');
  });
});

test.each([
  ['1700000000.1234567', 's', 1_700_000_000.123_456_7],
  ['1700000000123', 'ms', 1_700_000_000.123],
  ['1700000000123456789', 'ns', 1_700_000_000.123_457],
  ['1.5e3', 's', 1500],
  ['-1', 's', -1],
  ['2023-11-16 18:15:46.6805900', 's', 1_700_158_546.680_59],
  ['2023-11-16T18:15:46.68059Z', 's', 1_700_158_546.680_59],
  ['2023-11-16T18:15:46UTC', 's', 1_700_158_546],
  ['2023-11-16T19:15:46.68059+01:00', 's', 1_700_158_546.680_59],
  ['2023-11-16 16:45:46,68059 -0130', 's', 1_700_158_546.680_59],
] as const)('the time %s in %s', (text, unit, seconds) => {
  expect(Math.abs(parseTime(text, unit) - seconds)).toBeLessThan(1e-6);
});

test.each(['2023-13-16 18:15:46', '2023-02-31 18:15:46', 'yesterday', '', ' ', 'Infinity'])(
  '%j is no time',
  (text) => {
    expect(parseTime(text, 's')).toBeNaN();
  },
);
