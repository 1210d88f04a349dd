/** Random values that a contract schema accepts. Throws for an unknown kind of schema. */
import * as fc from './fast-check.ts';
import * as z from 'zod';

/** Fields whose rules no generator guesses, and ids that lead somewhere now and then. */
const FIELDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  id: fc.constantFrom(1, 2, 7, 8, 9, 31, 42, 43, 501, 999),
  workergroup_id: fc.constantFrom(7, 8, 99),
  endpoint_id: fc.constantFrom(31, 9),
  endpoint: fc.constantFrom('chat', 'x'),
  endpoint_name: fc.constantFrom('chat', 'x'),
  ids: fc.constantFrom([3001], [3002, 5]),
  offer_id: fc.constantFrom(3001, 3002, 3003, 3004, 5),
  template_id: fc.constantFrom(9, 10, 11, 99),
  tfa_method_id: fc.constantFrom(1, 2, 99),
  target_id: fc.constantFrom(1, 2, 99),
  env: fc.constantFrom('', '-e A=1', "-e A='x y' -p 80:80/udp", "-e A=it's"),
  machine_ids: fc.constantFrom(11, '11, 12', [11], [99]),
  phone_number: fc.constantFrom('+15551234567', '+491701234567'),
  code: fc.constantFrom('123456', '000000'),
  backup_code: fc.constantFrom('AAAA-BBBB-CCCC', 'a1b2-c3d4-e5fü'),
  mount_path: fc.constant('/data'),
};

export function arbitraryOf(schema: z.ZodType, name = ''): fc.Arbitrary<unknown> {
  const known = FIELDS[name];
  const fits = (value: unknown): boolean => schema.safeParse(value).success;
  if (known && fits(fc.sample(known, { numRuns: 1, seed: 1 })[0])) return known.filter(fits);
  return unchecked(schema, name).filter(fits);
}

function unchecked(schema: z.ZodType, name: string): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return arbitraryOf(schema.unwrap() as z.ZodType, name);
  }
  if (schema instanceof z.ZodNullable) return fc.option(arbitraryOf(schema.unwrap() as z.ZodType, name));
  if (schema instanceof z.ZodObject) return objectOf(schema);
  if (schema instanceof z.ZodArray)
    return fc.array(arbitraryOf(schema.element as z.ZodType), { maxLength: 3 });
  if (schema instanceof z.ZodTuple)
    return fc.tuple(...schema.def.items.map((item) => arbitraryOf(item as z.ZodType, name)));
  if (schema instanceof z.ZodRecord) {
    return fc.dictionary(fc.string({ maxLength: 8 }), arbitraryOf(schema.valueType as z.ZodType), {
      maxKeys: 3,
    });
  }
  if (schema instanceof z.ZodUnion) {
    return fc.oneof(...schema.options.map((option) => arbitraryOf(option as z.ZodType, name)));
  }
  if (schema instanceof z.ZodNumber)
    return fc.oneof(fc.nat({ max: 50 }), fc.double({ noNaN: true, min: 0, max: 1 }), fc.integer());
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...(schema.options as unknown[]));
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...(schema.values as Set<unknown>));
  if (schema instanceof z.ZodString)
    return fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('a'));
  if (schema instanceof z.ZodUnknown) return fc.jsonValue();
  throw new Error(`no arbitrary for ${schema.constructor.name} (${name})`);
}

function objectOf(schema: z.ZodObject): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.shape) as [string, z.ZodType][];
  const required = fields.filter(([, field]) => !field.safeParse(undefined).success).map(([name]) => name);
  const arbitraries = Object.fromEntries(fields.map(([name, field]) => [name, arbitraryOf(field, name)]));
  return fc.record(arbitraries, { requiredKeys: required });
}
