/**
 * The text of an environment file: a line for each variable, as shells, systemd and Compose write them. Where these
 * read a line in different ways it is refused, but for one: a bare value is taken as it stands, with the quotes,
 * backslashes and dollar signs inside it. Pure, and all problems at once. No message quotes a line: there may be a
 * secret in it.
 */

export interface Assignment {
  readonly value: string;
  /** From 1. */
  readonly line: number;
}

export interface LineProblem {
  readonly line: number;
  readonly message: string;
}

export interface ParsedEnvFile {
  readonly assignments: ReadonlyMap<string, Assignment>;
  readonly problems: readonly LineProblem[];
}

const ASSIGNMENT = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;
/** After white space, to the end of the line. */
const COMMENT = /[ \t]#.*$/s;
const BLANK = /^[ \t]*(?:#.*)?$/s;
const SINGLE_QUOTED = /^'([^']*)'(.*)$/s;
const DOUBLE_QUOTED = /^"((?:[^"\\]|\\.)*)"(.*)$/s;
/** What a backslash takes its meaning from, between double quotes; before anything else it is a backslash. */
const ESCAPED = /\\(["\\$`])/g;
/** But for a tab. */
const CONTROL = /[^\P{Cc}\t]/u;

export function parseEnvFile(text: string): ParsedEnvFile {
  const assignments = new Map<string, Assignment>();
  const problems: LineProblem[] = [];
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    const read = readLine(raw.replace(/\r$/, ''));
    if (read === undefined) continue;
    if (typeof read === 'string') {
      problems.push({ line, message: read });
      continue;
    }
    const first = assignments.get(read.name)?.line;
    if (first === undefined) assignments.set(read.name, { value: read.value, line });
    else problems.push({ line, message: `${read.name} is on line ${first} already; keep one` });
  }
  return { assignments, problems };
}

/** Undefined for a line that says nothing; a string is what is wrong with it. */
function readLine(raw: string): { readonly name: string; readonly value: string } | string | undefined {
  const line = raw.replace(/^[ \t]+/, '');
  if (BLANK.test(line)) return undefined;
  if (CONTROL.test(line)) return 'it has a control character';
  const [, name, rest = ''] = ASSIGNMENT.exec(line) ?? [];
  if (name === undefined) {
    if (/^[^=]*[ \t]=/.test(line)) return 'there is a space before the =';
    return line.includes('=') ? 'what stands before the = is no name' : 'it has no =';
  }
  const value = valueOf(rest);
  return 'problem' in value ? value.problem : { name, value: value.text };
}

function valueOf(rest: string): { readonly text: string } | { readonly problem: string } {
  if (/^[ \t]+[^ \t#]/.test(rest))
    return { problem: 'there is a space after the =; quote the value to keep it' };
  if (rest.startsWith('#')) return { problem: 'a value that begins with # must be quoted' };
  const quote = rest[0];
  if (quote !== "'" && quote !== '"') return { text: rest.replace(COMMENT, '').trimEnd() };
  const [, quoted, after = ''] = (quote === "'" ? SINGLE_QUOTED : DOUBLE_QUOTED).exec(rest) ?? [];
  if (quoted === undefined) return { problem: `its ${quote} is not closed on the same line` };
  if (!BLANK.test(after) || after.startsWith('#'))
    return { problem: `something follows its closing ${quote}` };
  return { text: quote === '"' ? quoted.replaceAll(ESCAPED, '$1') : quoted };
}
