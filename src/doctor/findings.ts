/** What is known of the service, as sentences with a verdict. Pure. */
import {
  ASSUMPTION_IDS,
  assumptionOf,
  type AssumptionId,
  type AssumptionOutcome,
} from '../contract/assumptions.ts';
import type { Traits } from './learn.ts';

export interface KnownFinding extends AssumptionOutcome {
  readonly trait: AssumptionId;
  readonly value: string;
}

export type Finding =
  | KnownFinding
  | { readonly trait: AssumptionId; readonly verdict: 'unknown'; readonly says: string };

/** One for each assumption, in the order of the list. */
export function findingsOf(traits: Traits): Finding[] {
  return ASSUMPTION_IDS.map(
    (trait) =>
      knownFinding(traits, trait) ?? { trait, verdict: 'unknown', says: assumptionOf(trait).unknown },
  );
}

/** Those that some answer told. */
export function knownFindings(traits: Traits): KnownFinding[] {
  return ASSUMPTION_IDS.flatMap((trait) => knownFinding(traits, trait) ?? []);
}

/** A value that this version does not know, as a file of another may have, is not known. */
function knownFinding(traits: Traits, trait: AssumptionId): KnownFinding | undefined {
  const { outcomes } = assumptionOf(trait);
  const value = traits[trait] ?? '';
  const outcome = Object.hasOwn(outcomes, value) ? outcomes[value] : undefined;
  return outcome && { trait, value, ...outcome };
}
