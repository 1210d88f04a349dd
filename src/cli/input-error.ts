import { PilotlightError } from '../contract/pilotlight-error.ts';

/** What a user gave cannot be used; the message says what and why. Commands print it and end with `EXIT.usage`. */
export class InputError extends PilotlightError {
  readonly code = 'invalid_input';
  readonly actor = 'user';
}
