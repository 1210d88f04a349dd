/** A group of the model that writes down all that it is told. */
import type { EndpointGroupParameters } from '../../src/contract/operations/serverless/endpoint-groups.ts';
import { GroupModel, type GroupObserver } from '../../src/scaling/planner/model/group.ts';
import { planSettings, type PlanSettings } from '../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';

export class Notes implements GroupObserver {
  readonly all: unknown[][] = [];
  readonly gone = new Set<number>();
  arrived = (...told: unknown[]) => this.note('arrived', told);
  workersUntil = (to: number, workers: object) => this.note('until', [to, { ...workers }]);
  begun = (...told: unknown[]) => this.note('begun', told);
  taken = (...told: unknown[]) => this.note('taken', told);
  abandoned = (...told: unknown[]) => this.note('abandoned', told);
  moved = (...told: unknown[]) => this.note('moved', told);
  decided = (...told: unknown[]) => this.note('decided', told);
  waits = (request: number) => !this.gone.has(request);

  of(kind: string): unknown[][] {
    return this.all.filter(([first]) => first === kind).map(([, ...told]) => told);
  }

  private note(kind: string, told: unknown[]): void {
    this.all.push([kind, ...told]);
  }
}

export function modelOf(parameters: EndpointGroupParameters, settings: Partial<PlanSettings> = {}) {
  const observer = new Notes();
  const options = {
    parameters: resolveDefaults(parameters),
    settings: planSettings({
      performance: { least: 10, most: 10 },
      startSeconds: 20,
      coldStartSeconds: 10,
      ...settings,
    }),
    observer,
  };
  return { model: new GroupModel(options), observer, options };
}
