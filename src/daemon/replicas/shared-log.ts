/**
 * The value of one log in Redis: a checksum, JSON, and seven bytes for the hash of each known line. It has 16 KiB at
 * most.
 */
import { crc32 } from 'node:zlib';
import type { GroupProgress } from '../../logs/follower/group.ts';
import type { Stream } from '../../logs/follower/stream.ts';

export interface SharedLog {
  /** Fencing token of the replica that wrote it. */
  readonly token: number;
  readonly progress: GroupProgress;
}

const MOST_BYTES = 16_384;
/** Of all levels together. */
const MOST_HASHES = 2_000;
const HASH_BYTES = 7;
const CHECKSUM_BYTES = 4;
/** Of a level: what stands in JSON about its window. */
const WINDOW_BYTES = 100;
/** Enough to tell a backend that lags from a log that began again. */
const MOST_CAME = 8;
const MOST_PENDING_BYTES = 4_096;

interface StoredLog extends Omit<GroupProgress, 'streams'> {
  readonly token: number;
  readonly streams: Readonly<Record<string, StoredStream>>;
}
type StoredStream = Omit<Stream, 'window'> & { readonly from: number; readonly lines: number };

/** `progress` may carry the token of an earlier holding, as the spool keeps one. */
export function encodeLog({ token, progress }: SharedLog): Buffer {
  const { streams, ...rest } = progress;
  const count = Object.keys(streams).length;
  const levels = Object.entries(streams).map(([level, stream]) => ({
    level,
    window: stream.window,
    stored: withoutWindow(stream, MOST_PENDING_BYTES / count),
  }));
  const bare = levels.map(({ level, stored }) => [level, stored]);
  const bytes = Buffer.byteLength(JSON.stringify({ ...rest, token, streams: bare }));
  const room = MOST_BYTES - CHECKSUM_BYTES - bytes - WINDOW_BYTES * count;
  const share = Math.max(0, Math.floor(Math.min(MOST_HASHES, room / HASH_BYTES) / count));
  const windows: Buffer[] = [];
  const stored = levels.map(({ level, window, stored: stream }) => {
    const cut = Math.max(0, window.hashes.length - share);
    const hashes = window.hashes.subarray(cut);
    windows.push(packed(hashes));
    const isWhole = stream.isWhole && cut === 0;
    return [level, { ...stream, isWhole, from: window.from + cut, lines: hashes.length }];
  });
  const header = JSON.stringify({ ...rest, token, streams: Object.fromEntries(stored) });
  const body = Buffer.concat([Buffer.from(`${header}\n`), ...windows]);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([checksum, body]);
}

/** @returns undefined when it is not what a replica wrote. */
export function decodeLog(value: Buffer): SharedLog | undefined {
  const body = value.subarray(CHECKSUM_BYTES);
  const end = body.indexOf('\n');
  if (end < 0 || value.readUInt32BE() !== crc32(body)) return undefined;
  const { token, streams, ...rest } = JSON.parse(body.toString('utf8', 0, end)) as StoredLog;
  let at = end + 1;
  const whole = Object.entries(streams).map(([level, { from, lines, ...stream }]): [string, Stream] => {
    const hashes = unpacked(body.subarray(at, (at += lines * HASH_BYTES)));
    return [level, { ...stream, window: { from, hashes } }];
  });
  return { token, progress: { ...rest, streams: Object.fromEntries(whole) } };
}

/** Leaves out what is remembered for half a minute at most, or can be learned again. */
function withoutWindow(
  { window: _window, previous: _previous, shorter: _shorter, came, pending, ...stream }: Stream,
  mostBytes: number,
): Omit<Stream, 'window'> {
  const isLong = Buffer.byteLength(JSON.stringify(pending ?? null)) > mostBytes;
  return { ...stream, came: came.slice(0, MOST_CAME), pending: isLong ? undefined : pending };
}

/** A hash is a whole number below 2^53. */
function packed(hashes: Float64Array): Buffer {
  const bytes = Buffer.alloc(hashes.length * HASH_BYTES);
  for (const [index, hash] of hashes.entries()) {
    bytes.writeUIntBE(Math.floor(hash / 2 ** 32), index * HASH_BYTES, 3);
    bytes.writeUInt32BE(hash % 2 ** 32, index * HASH_BYTES + 3);
  }
  return bytes;
}

function unpacked(bytes: Buffer): Float64Array {
  return Float64Array.from(
    { length: bytes.length / HASH_BYTES },
    (_, index) =>
      bytes.readUIntBE(index * HASH_BYTES, 3) * 2 ** 32 + bytes.readUInt32BE(index * HASH_BYTES + 3),
  );
}
