/** What steering asks of advice: the cheapest set within one step, where nothing moves that bounds do not name. Pure. */
import { ADVISED_PARAMETERS } from '../../scaling/advice/advice.ts';
import type { AdviceQuestion } from '../../fleet/steering/port.ts';
import { resolveDefaults } from '../../scaling/rules/check.ts';
import type { AdviceAsked } from '../advice/advice.ts';

export function adviceAsked({ endpoint, parameters, parametersSinceMs, reach }: AdviceQuestion): AdviceAsked {
  const resolved = resolveDefaults(parameters);
  const bounds = Object.fromEntries(
    ADVISED_PARAMETERS.map((name) => {
      const span = reach[name];
      return [name, span ? ([span.least, span.most] as const) : ([resolved[name], resolved[name]] as const)];
    }),
  );
  return { endpoint, parameters: resolved, parametersSinceMs, bounds, isCautious: true };
}
