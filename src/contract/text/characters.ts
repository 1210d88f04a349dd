/**
 * The length of a text in characters, as §8 limits it: Unicode code points, which is what `maxLength` of a JSON schema
 * counts too. `length` of a string counts UTF-16 code units, of which an emoji has two.
 */
import * as z from 'zod';

export function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** A text of at most so many characters. */
export function textUpTo(maximum: number): z.ZodString {
  return z
    .string()
    .superRefine((text, context) => {
      if (countCharacters(text) <= maximum) return;
      context.addIssue({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: text });
    })
    .meta({ maxLength: maximum });
}
