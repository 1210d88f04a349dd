/** What the service and the program say they did: figures of a program that did not do its work are good ones. */
import { ensure } from './figures.ts';

interface Deployment {
  readonly lapses: number;
  readonly beats: number;
  readonly minMarginMs: number | null;
}

export interface Books {
  readonly lapses: number;
  /** Least that was left of a TTL, s. */
  readonly closestSeconds: number;
}

/** @param seconds For so long each deployment was to be kept, of TTL `ttlSeconds`: it was, or nothing was measured. */
export async function deploymentBooks(
  emulator: { readonly url: string },
  { seconds, ttlSeconds }: { readonly seconds: number; readonly ttlSeconds: number },
): Promise<Books> {
  const deployments = await deploymentsOf(emulator);
  const beats = Math.min(...deployments.map((one) => one.beats));
  const least = Math.max(1, Math.floor(seconds / ttlSeconds));
  ensure(beats >= least, `each deployment was beaten ${least} times at least; one was ${beats} times`);
  return booksOf(deployments);
}

export function booksOf(deployments: readonly Deployment[]): Books {
  return {
    lapses: deployments.reduce((sum, one) => sum + one.lapses, 0),
    closestSeconds: Math.min(...deployments.map(({ minMarginMs }) => minMarginMs ?? Infinity)) / 1000,
  };
}

export async function deploymentsOf({ url }: { readonly url: string }): Promise<readonly Deployment[]> {
  const state = await fetch(`${url}/_emulator/state`);
  const { deployments } = (await state.json()) as { deployments: readonly Deployment[] };
  return deployments;
}

export async function scrape({ url }: { readonly url: string }): Promise<string> {
  const answer = await fetch(`${url}/metrics`);
  ensure(answer.ok, `/metrics answers with 200; it was ${answer.status}`);
  return await answer.text();
}

/** A sample of a scrape; NaN where it has none. @param series As it stands there, with its labels. */
export function sampleOf(metrics: string, series: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? Number.NaN);
}

/** Worker-group lines that standard output has taken. */
export async function deliveredLines(program: { readonly url: string }): Promise<number> {
  return sampleOf(await scrape(program), 'pilotlight_log_sink_delivered_lines_total{sink="stdout"}');
}

export function accepted(metrics: string, operation: string): number {
  return sampleOf(metrics, `pilotlight_api_requests_total{operation="${operation}",code="200"}`);
}
