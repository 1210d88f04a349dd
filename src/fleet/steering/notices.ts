/** What a step of steering is worth telling: from the state before it, and after. Pure. */
import type { Change, SteeringState } from '../../scaling/autotune/state.ts';
import type { SteeringNotice } from './port.ts';

export function noticesOf(endpoint: string, before: SteeringState, after: SteeringState): SteeringNotice[] {
  const notices: SteeringNotice[] = [];
  const [old, change] = [before.change, after.change];
  if (change && change !== old) {
    const isNew = change.id !== old?.id;
    if (isNew) notices.push({ kind: 'parameters steered', endpoint, change });
    if (change.phase === 'returning' && old?.phase !== 'returning')
      notices.push({ kind: 'old values go back', endpoint, change });
    if (change.refused && change.refused.words !== old?.refused?.words)
      notices.push({ kind: 'old values refused', endpoint, change });
    if (hasEnded(change, isNew ? undefined : old))
      notices.push({ kind: 'steering ended', endpoint, change, outcome: change.outcome ?? 'lost' });
  }
  if (after.pause?.for === 'a hand' && after.pause !== before.pause)
    notices.push({ kind: 'changed by hand', endpoint });
  return notices;
}

function hasEnded({ phase }: Change, old: Change | undefined): boolean {
  return phase === 'over' && old?.phase !== 'over';
}
