import { deploymentHandlers } from './deployments.ts';
import type { Handlers } from './define.ts';
import { instanceHandlers } from './instances.ts';
import { machineHandlers } from './machines.ts';
import { tfaHandlers } from './tfa.ts';
import { userHandlers } from './users.ts';
import { workerGroupHandlers } from './workergroups.ts';

export const HANDLERS: Handlers = {
  ...machineHandlers,
  ...instanceHandlers,
  ...userHandlers,
  ...tfaHandlers,
  ...deploymentHandlers,
  ...workerGroupHandlers,
};
