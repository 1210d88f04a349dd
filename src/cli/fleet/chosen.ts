/** Which of a daemon's endpoints a command is about. */
import type { EndpointStatus, Status } from '../../daemon/status/schema.ts';
import { InputError } from '../input-error.ts';
import { legibleLine } from '../text/legible.ts';
import { noEndpoints } from './words.ts';

/** By label or id; all where none is wanted. @throws InputError where there is none such */
export function chosenEndpoints(
  status: Pick<Status, 'fleet' | 'replica'>,
  wanted: string | undefined,
): readonly EndpointStatus[] {
  const { endpoints } = status.fleet;
  if (wanted === undefined) return endpoints;
  const found = endpoints.find(
    ({ endpoint_group: name, endpoint_id: id }) => name === wanted || String(id) === wanted,
  );
  if (found) return [found];
  const names = endpoints.map(({ endpoint_group: name }) => legibleLine(name)).join(', ');
  throw new InputError(
    names === ''
      ? `no endpoint ${wanted}: ${noEndpoints(status)}`
      : `no endpoint ${wanted}; there is: ${names}`,
  );
}
