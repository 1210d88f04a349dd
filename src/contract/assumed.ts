/**
 * What the table says and the interface does not. It names the codes of refusals for 2FA alone (§7), and one permission
 * of a scoped key, for the search of templates (§4.2). Elsewhere both are this project's assumption, or the public
 * dialect's, and help and OpenAPI document say so.
 */
import type { Operation } from './define.ts';
import { ERRORS, type ErrorCode } from './errors.ts';

const NAMED_PERMISSION = 'user_read';

export function isErrorAssumed({ source }: Operation, code: ErrorCode): boolean {
  return ERRORS[code].assumed === true || source !== '§4.4';
}

export function isPermissionAssumed({ permission, origin }: Operation): boolean {
  return permission !== undefined && (permission !== NAMED_PERMISSION || origin !== 'interface');
}

/** `permission`, and those of the row's own error codes. */
export function assumptionsOf(operation: Operation): string[] {
  return [
    ...(isPermissionAssumed(operation) ? ['permission'] : []),
    ...operation.errors.filter((code) => isErrorAssumed(operation, code)),
  ];
}
