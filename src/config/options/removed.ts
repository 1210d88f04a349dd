/** The variables that earlier versions had, without the prefix, and what became of each. */
const NO_STEERING =
  'removed: Pilotlight no longer changes parameters; plan with `pilotlight plan --search` and set them yourself';
const NO_ADVICE =
  'removed: Pilotlight gives no advice from recorded load; plan with `pilotlight plan --search` and your own load';

export const REMOVED: ReadonlyMap<string, string> = new Map([
  ['AUTOTUNE', NO_STEERING],
  ['AUTOTUNE_BOUNDS', NO_STEERING],
  ['ADVICE_SCHEDULE', NO_ADVICE],
  ['ADVICE_P99', NO_ADVICE],
]);
