/** How the emulated service says no: a handler or a check throws it, and the dialect makes it an answer. */
import { ERRORS, type Actor, type ErrorCode } from '../../contract/errors.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';

interface RefusedOptions {
  /** Further fields of the error body, e.g. `fail_count`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** For `x-emulator-reason`, where field and message do not say it. */
  readonly reason?: string;
  /** One of the code's statuses other than its usual one. */
  readonly status?: number;
  /** How the public dialect says it, where it differs. */
  readonly inPublic?: {
    readonly status: number;
    readonly message: string;
    /** A code that the interface does not have. */
    readonly code?: string;
  };
}

export class Refused extends PilotlightError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly inPublic: RefusedOptions['inPublic'];

  /** @param field What breaks the rule: of the request, of the account, or a setting. */
  constructor(code: ErrorCode, message: string, field: string, options: RefusedOptions = {}) {
    super(message);
    this.code = code;
    this.status = options.status ?? ERRORS[code].status[0];
    this.fields = options.fields ?? {};
    this.reason = options.reason ?? (message.startsWith(`${field}: `) ? message : `${field}: ${message}`);
    this.inPublic = options.inPublic;
  }

  get actor(): Actor {
    return ERRORS[this.code].actor;
  }
}

/** The input breaks a rule: `image: needed without a template`. */
export function badRequest(field: string, rule: string): Refused {
  return new Refused('bad_request', rule.startsWith(field) ? rule : `${field}: ${rule}`, field);
}

/** The account has no such thing: `what` is its kind with its id or name, `field` the one that names it. */
export function notFound(what: string, field = 'id', code: ErrorCode = 'not_found'): Refused {
  return new Refused(code, `no ${what}`, field);
}
