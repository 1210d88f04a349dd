import { apiKeyHandlers } from './api-keys.ts';
import { deploymentHandlers } from './deployments.ts';
import type { Handlers } from './define.ts';
import { endpointGroupHandlers } from './endpoint-groups.ts';
import { instanceHandlers } from './instances.ts';
import { machineHandlers } from './machines.ts';
import { teamHandlers } from './teams.ts';
import { templateHandlers } from './templates.ts';
import { tfaHandlers } from './tfa.ts';
import { userHandlers } from './users.ts';
import { workerGroupHandlers } from './workergroups.ts';

export const HANDLERS: Handlers = {
  ...machineHandlers,
  ...templateHandlers,
  ...instanceHandlers,
  ...userHandlers,
  ...tfaHandlers,
  ...teamHandlers,
  ...deploymentHandlers,
  ...workerGroupHandlers,
  ...endpointGroupHandlers,
  ...apiKeyHandlers,
};
