/** The sections of resource-schema.ts → records, pure. */
import type { z } from 'zod';
import { TEMPLATE_DEFAULTS } from '../../contract/operations/templates.ts';
import { newGroup } from '../resources/endpoint-groups.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import { loadRecord } from '../state/endpoints/loads.ts';
import type { InstanceStep } from '../state/instances.ts';
import type { OfferRecord } from '../state/machines.ts';
import { contentOf, templateHash } from '../resources/templates.ts';
import type { TemplateRecord } from '../state/templates.ts';
import type { endpointGroupEntry, offerEntry, statusSteps, templateEntry } from './resource-schema.ts';

export function templateOf(
  entry: z.output<typeof templateEntry>,
  owner: number,
  nowMs: number,
): TemplateRecord {
  const {
    id,
    creator_id: creatorId = owner,
    recommended,
    default_tag: defaultTag = TEMPLATE_DEFAULTS.tag,
    age_seconds: age,
    count_created: countCreated,
    recent_create_ago: ago,
    ...fields
  } = entry;
  const content = contentOf(fields);
  return {
    id,
    creatorId,
    recommended,
    defaultTag,
    createdMs: nowMs - age * 1000,
    content,
    hashId: templateHash(content),
    countCreated,
    recentCreateMs: ago === undefined ? null : nowMs - ago * 1000,
  };
}

export function offerOf(entry: z.output<typeof offerEntry>): OfferRecord {
  return {
    id: entry.id,
    machineId: entry.machine_id,
    gpuName: entry.gpu_name,
    gpuCount: entry.num_gpus,
    gpuRamMb: entry.gpu_ram,
    dphTotal: entry.dph_total,
    diskSpaceGb: entry.disk_space,
    steps: stepsOf(entry.statuses),
    rentedBy: null,
  };
}

/** `seed`: of the random numbers of its load. */
export function endpointGroupOf(
  entry: z.output<typeof endpointGroupEntry>,
  userId: number,
  { nowMs, seed }: { readonly nowMs: number; readonly seed: number },
): EndpointGroupRecord {
  const { id, endpoint_state: state, deployment_id: deploymentId = null, load, ...parameters } = entry;
  const record = load ? loadRecord(load, { sinceMs: nowMs, revision: 1, seed }) : null;
  return newGroup({
    id,
    userId,
    createdMs: nowMs,
    parameters,
    state,
    deploymentId,
    load: record,
    established: true,
  });
}

export function stepsOf(statuses: z.output<typeof statusSteps>): InstanceStep[] | null {
  if (!statuses) return null;
  return statuses.map(({ actual_status: status, seconds }) => ({
    status,
    durationMs: seconds === undefined ? null : seconds * 1000,
  }));
}
