/** HTML by template, and JSON in it. */

/** Markup that is known to be safe. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | readonly Markup[];

/** HTML by template, with everything that is put in escaped: labels, file and column names come from outside. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts.reduce((text, part, index) => text + rendered(values[index - 1] ?? '') + part));
}

function rendered(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('\n');
  return String(value).replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** JSON that no `</script>` in a label can end, with no more digits than a plot shows. */
export function embeddedJson(value: unknown): string {
  const rounded = (_: string, each: unknown) =>
    typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(6)) : each;
  return JSON.stringify(value, rounded).replaceAll('<', String.raw`\u003c`);
}
