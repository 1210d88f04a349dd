import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** With offsets of all kinds: none, half and quarter hours, a summer time of half an hour, and a changed side of the date line. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];

/** As node-cron reads it: 24 o'clock is 0 o'clock, GMT+0 is GMT. Prints each instant of two years, hour by hour and once a minute for a day, that Intl reads differently; the zone is the process'. */
const COMPARISON = `
  import { Intl as local } from ${JSON.stringify(new URL('../../../src/watch/local-intl.ts', import.meta.url))};
  const two = '2-digit';
  const parts = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two, weekday: 'short', hour12: false };
  const zone = { timeZone: undefined, timeZoneName: 'shortOffset' };
  const formats = [Intl, local].map(({ DateTimeFormat }) => [parts, zone].map((options) => new DateTimeFormat('en-US', options)));
  function read([time, offset], date) {
    const read = Object.fromEntries(time.formatToParts(date).map(({ type, value }) => [type, value]));
    const { year, month, day, hour, minute, second, weekday } = read;
    const gmt = offset.formatToParts(date).find(({ type }) => type === 'timeZoneName').value.replace('+0', '');
    return [year, month, day, Number(hour) % 24, minute, second, weekday, gmt].join(' ');
  }
  const dates = Array.from({ length: 2 * 366 * 24 }, (_, hour) => Date.UTC(2011, 0, 1, hour, 7, 9))
    .concat(Array.from({ length: 1440 }, (_, minute) => Date.UTC(2026, 9, 25, 0, minute)));
  for (const time of dates) {
    const [theirs, ours] = formats.map((pair) => read(pair, new Date(time)));
    if (theirs !== ours) process.stdout.write(theirs + ' is ' + ours + '\\n');
  }
  process.stdout.write(process.env.TZ);
`;

test.concurrent.each(ZONES)('reads the clock in %s as Intl does', (zone) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', COMPARISON], {
    env: { ...process.env, TZ: zone },
    encoding: 'utf8',
  });
  expect([stdout, stderr]).toEqual([zone, '']);
});
