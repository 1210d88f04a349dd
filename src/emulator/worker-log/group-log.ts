/** A chain of written lines and of growths over time. Once written, a line never changes. */
import type { GroupLog, Growth, LineSource, Literal, Scenery } from '../state/endpoints.ts';
import { inferenceLine, TIME_MARK } from './inference-log.ts';

export function createGroupLog(options: {
  source: LineSource;
  linesPerSecond: number;
  retainedLines: number;
  sinceMs: number;
}): GroupLog {
  const { source, linesPerSecond, sinceMs, retainedLines } = options;
  const growth: Growth = { kind: 'growth', first: 0, sinceMs, linesPerSecond, sourceFirst: 0, source };
  return { segments: [growth], retainedLines, clearedBefore: 0, unfinished: '', files: {} };
}

export function lineCount(log: GroupLog, nowMs: number): number {
  return endOf(openGrowth(log), nowMs);
}

export function firstRetained(log: GroupLog, nowMs: number): number {
  return Math.max(0, log.clearedBefore, lineCount(log, nowMs) - log.retainedLines);
}

export function growthRate(log: GroupLog): number {
  return openGrowth(log).linesPerSecond;
}

export function linesBetween(
  log: GroupLog,
  { from, to }: { readonly from: number; readonly to: number },
  nowMs: number,
): string[] {
  const first = Math.max(from, firstRetained(log, nowMs));
  const last = Math.min(to, lineCount(log, nowMs));
  const lines: string[] = [];
  for (const segment of log.segments) {
    const end = Math.min(last, endOf(segment, nowMs));
    for (let index = Math.max(first, segment.first); index < end; index += 1)
      lines.push(lineOf(segment, index));
  }
  return lines;
}

export function appendLines(log: GroupLog, lines: readonly string[], nowMs: number): void {
  const added = lines.flatMap((line) => line.split('\n'));
  if (log.unfinished !== '') added.unshift(log.unfinished);
  log.unfinished = '';
  if (added.length === 0) return;
  const growth = closeGrowth(log, nowMs);
  const last = log.segments.at(-1);
  const first = growth.first;
  if (last?.kind === 'literal') last.lines.push(...added);
  else log.segments.push({ kind: 'literal', first, lines: added });
  log.segments.push({ ...growth, first: first + added.length });
  dropOld(log, nowMs);
}

/** Text after the last line break stays unfinished until more comes. */
export function writeText(log: GroupLog, text: string, nowMs: number): void {
  if (growthRate(log) > 0)
    throw new Error('text without a line break at its end needs a log that does not grow by itself');
  const pieces = (log.unfinished + text).split('\n');
  const rest = pieces.pop() ?? '';
  log.unfinished = '';
  appendLines(log, pieces, nowMs);
  log.unfinished = rest;
}

export function setGrowthRate(log: GroupLog, linesPerSecond: number, nowMs: number): void {
  regrow(log, { sinceMs: nowMs, linesPerSecond }, nowMs);
}

function regrow(log: GroupLog, changes: Partial<Growth>, nowMs: number): void {
  const growth = closeGrowth(log, nowMs);
  log.segments.push({ ...growth, ...changes });
  dropOld(log, nowMs);
}

/** Replayed lines stay as they are. */
export function setGrowth(
  log: GroupLog,
  { linesPerSecond, scenes }: { readonly linesPerSecond: number; readonly scenes: Scenery },
  nowMs: number,
): void {
  const { source } = openGrowth(log);
  if (source.kind !== 'generated') return;
  if (growthRate(log) === linesPerSecond && (source.scenes ?? 'all') === scenes) return;
  regrow(log, { sinceMs: nowMs, linesPerSecond, source: { ...source, scenes } }, nowMs);
}

export function setLooks(
  log: GroupLog,
  looks: { readonly lines: readonly string[]; readonly everyMs: number; readonly sinceMs: number },
  nowMs: number,
): void {
  const { lines, everyMs } = looks;
  const { source } = openGrowth(log);
  if (source.kind === 'looks' && source.lines.join('\n') === lines.join('\n')) return;
  const sinceMs = looks.sinceMs + Math.floor((nowMs - looks.sinceMs) / everyMs) * everyMs;
  regrow(log, { sinceMs, source: { kind: 'looks', lines, everyMs } }, nowMs);
}

export function clearLog(log: GroupLog, nowMs: number): void {
  log.clearedBefore = lineCount(log, nowMs);
  log.unfinished = '';
  dropOld(log, nowMs);
}

function openGrowth(log: GroupLog): Growth {
  const last = log.segments.at(-1);
  if (last?.kind !== 'growth') throw new Error('the last segment of a log is always a growth');
  return last;
}

function endOf(segment: Literal | Growth, nowMs: number): number {
  if (segment.kind === 'literal') return segment.first + segment.lines.length;
  if (segment.end !== undefined) return segment.end;
  const elapsed = Math.max(0, nowMs - segment.sinceMs);
  const { source } = segment;
  if (source.kind === 'looks')
    return segment.first + Math.floor(elapsed / source.everyMs) * source.lines.length;
  const grown = Math.floor((elapsed * segment.linesPerSecond) / 1000);
  if (source.kind === 'generated') return segment.first + grown;
  const left = source.loop && source.lines.length > 0 ? grown : source.lines.length - segment.sourceFirst;
  return segment.first + Math.min(grown, left);
}

/** Ends the open growth. The returned one continues it without a gap. */
function closeGrowth(log: GroupLog, nowMs: number): Growth {
  const growth = openGrowth(log);
  const end = endOf(growth, nowMs);
  const written = end - growth.first;
  log.segments.pop();
  if (written > 0) log.segments.push({ ...growth, end });
  const grows = growth.linesPerSecond > 0 || growth.source.kind === 'looks';
  const sinceMs = grows ? writtenMs(growth, written) : nowMs;
  return { ...growth, first: end, sinceMs, sourceFirst: growth.sourceFirst + written };
}

function writtenMs({ sinceMs, linesPerSecond, source }: Growth, lines: number): number {
  if (source.kind === 'looks') return sinceMs + Math.ceil(lines / source.lines.length) * source.everyMs;
  return sinceMs + (lines * 1000) / linesPerSecond;
}

function lineOf(segment: Literal | Growth, index: number): string {
  const offset = index - segment.first;
  if (segment.kind === 'literal') return segment.lines[offset] ?? '';
  const { source } = segment;
  const atMs = writtenMs(segment, offset + 1);
  if (source.kind === 'looks') {
    const line = source.lines[offset % source.lines.length] ?? '';
    return line.replace(TIME_MARK, engineTime(atMs));
  }
  const sourceIndex = segment.sourceFirst + offset;
  if (source.kind === 'replay') return source.lines[sourceIndex % source.lines.length] ?? '';
  const line = inferenceLine(source.seed, sourceIndex, source.scenes);
  if (!line.includes(TIME_MARK)) return line;
  return line.replaceAll(TIME_MARK, clockText(atMs));
}

/** `1790000000.123[456]`: seconds, milliseconds, microseconds. */
export function engineTime(atMs: number): string {
  const micros = Math.round(atMs * 1_000);
  const [seconds, rest] = [Math.floor(micros / 1_000_000), String(micros % 1_000_000).padStart(6, '0')];
  return `${seconds}.${rest.slice(0, 3)}[${rest.slice(3)}]`;
}

/** `10-08 09:15:02`, UTC, like vLLM. */
export function clockText(atMs: number): string {
  const iso = new Date(atMs).toISOString();
  return `${iso.slice(5, 10)} ${iso.slice(11, 19)}`;
}

/** Long literals are cut at twice their size, so that this stays cheap. */
function dropOld(log: GroupLog, nowMs: number): void {
  const first = firstRetained(log, nowMs);
  const open = openGrowth(log);
  const { segments } = log;
  segments.splice(
    0,
    segments.findIndex((segment) => segment === open || endOf(segment, nowMs) > first),
  );
  const [oldest] = segments;
  if (oldest?.kind === 'literal' && first - oldest.first >= log.retainedLines)
    segments[0] = { kind: 'literal', first, lines: oldest.lines.slice(first - oldest.first) };
}
