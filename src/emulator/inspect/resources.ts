/** What a test may see and change of what users create or rent: `emulator.teamRoles.list()`. */
import type { z } from 'zod';
import { viewOffer, type OfferView } from '../resources/offers.ts';
import { offerOf, templateOf } from '../seed/build-resources.ts';
import { offerEntry, templateEntry } from '../seed/resource-schema.ts';
import type { World } from '../service/service.ts';
import { templateView } from '../resources/templates.ts';

export type TemplateView = ReturnType<typeof templateView>;

/** A role of a team; `created_at` in Unix seconds. */
export interface TeamRoleView {
  readonly id: number;
  readonly team_id: number;
  readonly name: string;
  readonly permissions: Readonly<Record<string, unknown>>;
  readonly created_at: number;
}

export interface Templates {
  /** All of them, private ones of all users included. */
  list(): TemplateView[];
  /** Adds one, or puts it in the place of the one with this id. */
  add(template: z.input<typeof templateEntry>): TemplateView;
}

export interface Offers {
  list(): OfferView[];
  /** Adds one that is free, or puts it in the place of the one with this id; `gpu_ram` in MB. */
  add(offer: z.input<typeof offerEntry>): void;
}

export interface TeamRoles {
  list(): TeamRoleView[];
}

export interface Resources {
  readonly templates: Templates;
  readonly offers: Offers;
  readonly teamRoles: TeamRoles;
}

export function inspectResources(world: World): Resources {
  return {
    templates: {
      list: () => [...world.state.templates.values()].map(templateView),
      add(entry) {
        const owner = world.state.users.keys().next().value ?? 0;
        const template = templateOf(templateEntry.parse(entry), owner, world.now());
        world.state.templates.set(template.id, template);
        return templateView(template);
      },
    },
    offers: {
      list: () => [...world.state.offers.values()].map(viewOffer),
      add(entry) {
        const offer = offerOf(offerEntry.parse(entry));
        world.state.offers.set(offer.id, offer);
      },
    },
    teamRoles: {
      list: () =>
        [...world.state.teamRoles.values()].map(({ id, teamId, name, permissions, createdMs }) => ({
          id,
          team_id: teamId,
          name,
          permissions,
          created_at: createdMs / 1000,
        })),
    },
  };
}
