/** §8 counts Unicode code points, as `maxLength` of JSON schema does; `length` counts an emoji twice. */
import * as z from 'zod';

export function countCharacters(text: string): number {
  return Array.from(text).length;
}

export function textUpTo(maximum: number): z.ZodString {
  return z
    .string()
    .superRefine((text, context) => {
      if (countCharacters(text) <= maximum) return;
      context.addIssue({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: text });
    })
    .meta({ maxLength: maximum });
}
