/** The value of DEPLOYMENTS: `42@300s,name:square,name:square/blue@5m`. */
import { labelOf, type Wanted } from '../../heartbeat/discovery/wanted.ts';
import {
  DURATION_ALLOWED,
  duration,
  id,
  splitList,
  type Parsed,
  type ValueProblem,
  type ValueType,
} from './value-types.ts';

const NAME_PREFIX = 'name:';
const ALLOWED =
  'ID, name:NAME or name:NAME/TAG, each with or without @TTL, such as 42@300s or name:square/blue';
/** The service does not say what a name may be, so it may be anything that does not break the list. */
const NAME_ALLOWED = 'name:NAME or name:NAME/TAG, NAME and TAG of anything but , @ / and control characters';
// oxlint-disable-next-line no-control-regex -- a control character is what it looks for
const NAME = /^[^,@/\u0000-\u001f\u007f]+$/;

/** All problems at once: entries that cannot be read, and those that say the same thing twice. */
export const deploymentList: ValueType<readonly Wanted[]> = {
  name: 'list of ID, name:NAME or name:NAME/TAG, each with or without @TTL',
  parse(text) {
    const parsed = splitList(text).map((entry) => parseEntry(entry));
    const values = parsed.flatMap(({ value }) => (value === undefined ? [] : [value]));
    const problems = [...parsed.flatMap((entry) => entry.problems), ...repeats(values)];
    return { value: problems.length === 0 ? values : undefined, problems };
  },
};

function parseEntry(entry: string): Parsed<Wanted> {
  const [subject = '', ttlText, ...rest] = entry.split('@');
  if (rest.length > 0) return wrong(entry, ALLOWED);
  const ttl = ttlText === undefined ? undefined : duration.parse(ttlText);
  if (ttl !== undefined && ttl.value === undefined) {
    return wrong(entry, `${subject || 'ID'}@TTL with TTL ${DURATION_ALLOWED}`);
  }
  const ttlMs = ttl?.value;
  if (!subject.startsWith(NAME_PREFIX)) {
    const { value } = id.parse(subject);
    return value === undefined ? wrong(entry, ALLOWED) : fine({ by: 'id', id: value, ttlMs });
  }
  const [name = '', tag, ...more] = subject
    .slice(NAME_PREFIX.length)
    .split('/')
    .map((part) => part.trim());
  if (more.length > 0 || !NAME.test(name) || (tag !== undefined && !NAME.test(tag))) {
    return wrong(entry, NAME_ALLOWED);
  }
  return fine({ by: 'name', name, tag, ttlMs });
}

function repeats(values: readonly Wanted[]): ValueProblem[] {
  const labels = values.map((wanted) => labelOf(wanted));
  const seen = new Set<string>();
  const repeated = new Set(labels.filter((label) => seen.size === seen.add(label).size));
  return [...repeated].map((label) => ({
    at: '',
    got: label,
    allowed: 'each one once',
    message: `${label} is listed more than once`,
  }));
}

function fine(value: Wanted): Parsed<Wanted> {
  return { value, problems: [] };
}

function wrong(got: string, allowed: string): Parsed<Wanted> {
  return { value: undefined, problems: [{ at: '', got, allowed }] };
}
