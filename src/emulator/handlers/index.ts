import { accountHandlers } from './accounts.ts';
import type { Handlers } from './define.ts';
import { deploymentHandlers } from './deployments.ts';
import { endpointGroupHandlers } from './endpoint-groups.ts';
import { instanceHandlers } from './instances.ts';
import { templateHandlers } from './templates.ts';
import { tfaHandlers } from './tfa.ts';
import { workerGroupHandlers } from './workergroups.ts';

export const HANDLERS: Handlers = {
  ...accountHandlers,
  ...deploymentHandlers,
  ...endpointGroupHandlers,
  ...instanceHandlers,
  ...templateHandlers,
  ...tfaHandlers,
  ...workerGroupHandlers,
};
