import { controlRoutes } from './controls.ts';
import { fleetRoutes } from './fleet.ts';
import { lifecycleRoutes } from './lifecycle.ts';
import { resourceRoutes } from './resources.ts';
import type { AdminParts, AdminRoute } from './route.ts';
import { twoFactorRoutes } from './two-factor.ts';

/** All that the admin API can do; each route is a few lines over the in-process API. */
export function adminRoutes(parts: AdminParts): AdminRoute[] {
  return [
    ...lifecycleRoutes(parts),
    ...controlRoutes(parts),
    ...resourceRoutes(parts),
    ...fleetRoutes(parts),
    ...twoFactorRoutes(parts),
  ];
}
