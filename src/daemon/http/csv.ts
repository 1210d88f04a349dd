/** CSV (RFC 4180), for spreadsheets and scripts. An empty field is what is not known. */

type Field = string | number | null | undefined;

/** A spreadsheet takes a field that begins so for a formula, which may call out. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

export function csvOf(columns: readonly string[], lines: readonly (readonly Field[])[]): string {
  return [columns, ...lines].map((fields) => `${fields.map(fieldOf).join(',')}\r\n`).join('');
}

/** What others have named: never a formula, and one field whatever is in it. */
function fieldOf(field: Field): string {
  if (typeof field !== 'string') return String(field ?? '');
  const plain = FORMULA.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
