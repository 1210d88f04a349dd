/** Renting an offer (§2.3, §4.3), pure: all checks, then the instance with what the merge rules make of it. */
import type { InstanceRequest } from '../../contract/operations/instances/instances.ts';
import { LIMITS } from '../../contract/limits.ts';
import { mergedValues, mergeLaunch, type LaunchValues } from '../../contract/merge.ts';
import { countCharacters } from '../../contract/text/characters.ts';
import { parseRegistryLogin, type RegistryLogin } from '../../contract/text/registry-login.ts';
import { FlagError } from '../../contract/text/shell-words.ts';
import { startingSteps } from './instances.ts';
import type { InstanceRecord } from '../state/instances.ts';
import { nextId } from '../state/next-id.ts';
import type { OfferRecord } from '../state/machines.ts';
import { Refused } from '../answers/refused.ts';
import type { State } from '../state/state.ts';
import { findTemplate } from './templates.ts';
import type { TemplateRecord } from '../state/templates.ts';

/** @throws Refused invalid_offer, not_found (template) or bad_request, and nothing has changed then */
export function rentOffer(
  state: State,
  offerId: number,
  request: InstanceRequest,
  userId: number,
  nowMs: number,
): InstanceRecord {
  const offer = freeOffer(state, offerId);
  const template = templateOf(state, request, userId);
  const values = mergedValues(mergeLaunch(template?.content, request));
  const { image, label, image_login: loginText, ...launch } = values;
  if (image === undefined) throw refusedField('image', 'needed without a template (§4.3)');
  checkOnstart(launch.onstart, request);
  const login = loginText === undefined ? null : readLogin(loginText);

  const id = nextId(state, 'instance', state.instances.keys());
  offer.rentedBy = id;
  if (template) {
    template.countCreated += 1;
    template.recentCreateMs = nowMs;
  }
  const instance: InstanceRecord = {
    id,
    userId,
    machineId: offer.machineId,
    label: label ?? null,
    image,
    gpuName: offer.gpuName,
    gpuCount: offer.gpuCount,
    gpuRamMb: offer.gpuRamMb,
    dphTotal: offer.dphTotal,
    createdMs: nowMs,
    stepsFromMs: nowMs,
    steps: stepsOf(offer, launch, state),
    intendedStatus: launch.target_state ?? 'running',
    launch: {
      offerId,
      templateId: template?.id ?? null,
      templateHashId: template?.hashId ?? null,
      login: login && { registry: login.registry, user: login.user },
      values: { ...launch, disk: launch.disk ?? state.settings.instanceDiskGb },
    },
  };
  state.instances.set(id, instance);
  return instance;
}

function freeOffer(state: State, offerId: number): OfferRecord {
  const offer = state.offers.get(offerId);
  if (offer && offer.rentedBy === null) return offer;
  throw new Refused('invalid_offer', `offer ${offerId} is not available`, {
    reason: offer ? `offer_id: offer ${offerId} is rented already` : `offer_id: there is no offer ${offerId}`,
  });
}

function templateOf(state: State, request: InstanceRequest, userId: number): TemplateRecord | undefined {
  const { template_hash_id: hashId } = request;
  if (hashId === undefined) return undefined;
  const template = findTemplate(state, hashId, userId);
  if (template) return template;
  throw new Refused('not_found', `no template with hash_id ${hashId}`, {
    reason:
      'template_hash_id: no template of this account, or open to it, has this hash_id; it changes with every edit, and the numeric id does not serve (§2.3)',
  });
}

/** The contract has checked the request's own script; a template may hold a longer one. */
function checkOnstart(onstart: string | undefined, request: InstanceRequest): void {
  const length = countCharacters(onstart ?? '');
  if (length <= LIMITS.onstartLength) return;
  const whose = request.onstart === undefined ? "the template's script" : 'the script';
  throw refusedField(
    'onstart',
    `${whose} has ${length} characters, at most ${LIMITS.onstartLength} are taken (§8)`,
  );
}

function readLogin(text: string): RegistryLogin {
  try {
    return parseRegistryLogin(text);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw refusedField('image_login', error.message);
  }
}

/** One that is to be stopped is made and never starts. */
function stepsOf(offer: OfferRecord, launch: Partial<LaunchValues>, state: State) {
  if (launch.target_state === 'stopped') return [{ status: 'created', durationMs: null }] as const;
  return offer.steps ?? startingSteps(state.settings);
}

function refusedField(field: string, rule: string): Refused {
  return new Refused('bad_request', `${field}: ${rule}`, { reason: `${field}: ${rule}` });
}
