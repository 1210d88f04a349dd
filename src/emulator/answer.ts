/** A refusal: handlers and checks throw it, and the dialect makes it an answer. */
import { ERRORS, type Actor, type ErrorCode } from '../contract/errors.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';
import { FlagError } from '../contract/text/shell-words.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Without a charset: a client of the service compares the whole header. */
const JSON_TYPE = 'application/json';

/** `reason` becomes the header `x-emulator-reason`. */
export function jsonAnswer(status: number, body: unknown, reason?: string): Answer {
  const answer = { status, contentType: JSON_TYPE, text: JSON.stringify(body) };
  return reason === undefined ? answer : { ...answer, headers: { 'x-emulator-reason': headerText(reason) } };
}

export function textAnswer(status: number, contentType: string, text: string): Answer {
  return { status, contentType, text };
}

/** Header values are one line of visible ASCII; clients may limit them. */
function headerText(reason: string): string {
  return reason
    .replaceAll('§', 'section ')
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 500);
}

const TOO_FREQUENT = 'API requests too frequent';

/** Forms of a 429: `json` was captured; the others are older. */
export const THROTTLE_SHAPES = ['json', 'text', 'detail', 'error'] as const;
export type ThrottleShape = (typeof THROTTLE_SHAPES)[number];

/** The dialect writes `error`. `limit`: size of the empty bucket. */
export function throttledAnswer(
  shape: ThrottleShape,
  told: { retryAfterSeconds?: number | undefined; limit?: number; thresholdSeconds?: number | undefined },
  refuse: (refused: Refused) => Answer,
): Answer {
  if (shape === 'error') return refuse(new Refused('rate_limited', TOO_FREQUENT, 'fault'));
  const { retryAfterSeconds: retry_after = 1, limit = 1, thresholdSeconds } = told;
  const threshold = thresholdSeconds && ` endpoint threshold=${decimal(thresholdSeconds)}`;
  if (shape === 'text')
    return textAnswer(429, 'text/plain; charset=utf-8', TOO_FREQUENT + (threshold ? `:${threshold}` : ''));
  // The service has no colon here.
  if (shape === 'detail') return jsonAnswer(429, { detail: TOO_FREQUENT + (threshold ?? '') });
  const bucket = { retry_after, limit, remaining: 0 };
  return jsonAnswer(429, { error: 'HTTPTooManyRequests', msg: TOO_FREQUENT, ...bucket });
}

/** The service writes 3.0 and 0.25. */
function decimal(seconds: number): string {
  return Number.isInteger(seconds) ? seconds.toFixed(1) : String(seconds);
}

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

/** Reads flags of a command line. @throws Refused bad_request in the words of the parser */
export function readFlags<Read>(field: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw badRequest(field, error.message);
  }
}

/** `what`: kind and id or name. `field`: the field that names it. */
export function notFound(what: string, field = 'id', code: ErrorCode = 'not_found'): Refused {
  return new Refused(code, `no ${what}`, field);
}
