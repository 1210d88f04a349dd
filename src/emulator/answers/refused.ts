/** A refusal: handlers and checks throw it, and the dialect makes it an answer. */
import { ERRORS, type Actor, type ErrorCode } from '../../contract/errors.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';

interface RefusedOptions {
  readonly fields?: Readonly<Record<string, unknown>>;
  /** `x-emulator-reason`, if field and message do not say it. */
  readonly reason?: string;
  readonly status?: number;
  /** The public dialect's own words, if they differ. */
  readonly inPublic?: {
    readonly status: number;
    readonly message: string;
    readonly code?: string;
  };
}

export class Refused extends PilotlightError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly inPublic: RefusedOptions['inPublic'];

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

export function badRequest(field: string, rule: string): Refused {
  return new Refused('bad_request', rule.startsWith(field) ? rule : `${field}: ${rule}`, field);
}

/** `what`: kind and id or name. `field`: the field that names it. */
export function notFound(what: string, field = 'id', code: ErrorCode = 'not_found'): Refused {
  return new Refused(code, `no ${what}`, field);
}
