/** Operation id ↔ words of the command line: `templates.search` is `template search`. */
import { OPERATION_IDS, type OperationId } from '../../contract/operations.ts';

export interface CommandGroup {
  /** `template`, `endpoint-group` */
  readonly name: string;
  /** `templates`; undefined where the resource has no plural. */
  readonly plural: string | undefined;
  readonly operations: readonly { readonly id: OperationId; readonly name: string }[];
}

/** The resources of the table in its order, each with its operations. */
export function commandGroups(): CommandGroup[] {
  const resources = Map.groupBy(OPERATION_IDS, (id) => id.split('.')[0] ?? '');
  return [...resources].map(([resource, ids]) => {
    const words = kebab(resource);
    const name = words.replace(/s$/, '');
    return {
      name,
      plural: name === words ? undefined : words,
      operations: ids.map((id) => ({ id, name: kebab(id.split('.')[1] ?? '') })),
    };
  });
}

/** `template search` */
export function commandOf(id: OperationId): string {
  const [resource = '', method = ''] = id.split('.');
  return `${kebab(resource).replace(/s$/, '')} ${kebab(method)}`;
}

/** `endpointGroups` and `machine_ids` → `endpoint-groups`, `machine-ids` */
export function kebab(name: string): string {
  return name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
