import { EXIT } from '../config/exit-codes.ts';
import { PilotlightError } from '../contract/pilotlight-error.ts';

export class CommandError extends PilotlightError {
  readonly code: string = 'command_failed';
  readonly actor = 'user';
  readonly exit: number;

  constructor(message: string, exit: number, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}

export class InputError extends CommandError {
  override readonly code = 'invalid_input';

  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.usage, options);
  }
}
