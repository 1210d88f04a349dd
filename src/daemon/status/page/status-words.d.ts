import type { Finding } from '../../../scaling/rules/rules.ts';
import type { DeploymentStatus, WorkerGroupStatus } from '../schema.ts';

/** 4.0 s, 61 s, 45 min */
export function seconds(value: number | null): string;
/** Three digits, or all before the point: 0.0354, 1.23, 45.6, 19,366; — if it is not known. */
export function short(value: number | null): string;
/** `1 error`, `3 errors` */
export function plural(count: number, noun: string): string;
/** `2 overrun, 1 reset`; empty if all are zero. */
export function counted(counts: Readonly<Record<string, number>>): string;
export function deploymentName(one: Pick<DeploymentStatus, 'deployment' | 'deployment_id'>): string;
export function logName(log: { readonly workergroup_id?: number; readonly endpoint_group?: string }): string;
export function lostLines(log: Pick<WorkerGroupStatus, 'lost_lines_estimate' | 'unknown_gaps'>): string;
export function findingInWords(finding: Pick<Finding, 'parameter' | 'got' | 'allowed' | 'message'>): string;
