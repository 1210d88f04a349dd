/** What the kernel's books (man 5 proc) say of a process and of all that it has started. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts a process' CPU time in these; 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface Memory {
  /** Proportional set size: a page that several processes map counts for each of them by its part. */
  readonly mb: number;
  /** Of it what no file backs: heaps, stacks, and what the program changed in its own copy of a file's page. */
  readonly anonymousMb: number;
}

/** `pid` and its descendants that run at present, the oldest first. */
export function processTree(pid: number): number[] {
  const children = whileThere(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), '');
  return [pid, ...(children.match(/\d+/g) ?? []).flatMap((child) => processTree(Number(child)))];
}

/** Of all of them together: what two of them share is counted once. */
export function memoryOf(pids: readonly number[]): Memory {
  const books = pids.map((pid) => whileThere(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), ''));
  return { mb: sum(books.map(megabytes('Pss'))), anonymousMb: sum(books.map(megabytes('Pss_Anon'))) };
}

/** User and system time so far, seconds, all threads, and that of the children that ended. */
export function cpuSecondsOf(pids: readonly number[]): number {
  return sum(pids.map((pid) => sum(stat(pid).slice(11, 15)) / TICKS_PER_SECOND));
}

export function openFilesOf(pids: readonly number[]): number {
  return sum(pids.map((pid) => whileThere(() => readdirSync(`/proc/${pid}/fd`), []).length));
}

export function threadsOf(pids: readonly number[]): number {
  return sum(pids.map((pid) => whileThere(() => readdirSync(`/proc/${pid}/task`), []).length));
}

/** The fields behind the name, which stands in parentheses and may hold spaces; times are fields 14 to 17. */
function stat(pid: number): number[] {
  const text = whileThere(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  return text
    .slice(text.lastIndexOf(') ') + 2)
    .split(' ')
    .map(Number);
}

function megabytes(name: string): (book: string) => number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm');
  return (book) => (Number(line.exec(book)?.[1] ?? 0) * 1024) / 1e6;
}

/** A process may end between two looks at it; then it has nothing. */
function whileThere<Found>(look: () => Found, otherwise: Found): Found {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return otherwise;
    throw error;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
