import { EXIT } from '../config/exit-codes.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';

/** A command cannot do its work; the message says why. `program.ts` prints it and sets the exit code. */
export class CommandError extends PilotlightError {
  readonly code: string = 'command_failed';
  readonly actor = 'user';
  readonly exit: number;

  constructor(message: string, exit: number, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}

/** What a user gave cannot be used; the message says what and why. */
export class InputError extends CommandError {
  override readonly code = 'invalid_input';

  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.usage, options);
  }
}
