/** What a user gave cannot be used; the message says what and why. Commands print it and end with `EXIT.usage`. */
export class InputError extends Error {
  override readonly name = 'InputError';
}
