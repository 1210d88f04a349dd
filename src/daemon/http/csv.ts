type Field = string | number | null | undefined;

/** A spreadsheet runs a field with such a beginning as a formula, which may send data out. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

export function csvOf(columns: readonly string[], lines: readonly (readonly Field[])[]): string {
  return [columns, ...lines].map((fields) => `${fields.map(fieldOf).join(',')}\r\n`).join('');
}

/** Others chose the text: it is never a formula, and always one field. */
function fieldOf(field: Field): string {
  if (typeof field !== 'string') return String(field ?? '');
  const plain = FORMULA.test(field) ? `'${field}` : field;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
