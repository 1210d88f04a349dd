import type { WantedEndpoint } from '../../fleet/discovery/endpoints.ts';
import { labelOf, type Wanted } from '../../heartbeat/discovery/wanted.ts';
import type { WantedLog } from '../../logs/lookup/log-lookup.ts';
import {
  duration,
  DURATION_ALLOWED,
  fine,
  id,
  listOf,
  valueType,
  wrong,
  type Parsed,
} from './value-types.ts';

const NAME_PREFIX = 'name:';
const ALLOWED =
  'ID, name:NAME or name:NAME/TAG, each with or without @TTL, such as 42@300s or name:square/blue';
/** The service does not say which names it allows, so anything is that does not break the list. */
const NAME_ALLOWED = 'name:NAME or name:NAME/TAG, where NAME and TAG have no , @ / or control character';
// oxlint-disable-next-line no-control-regex -- a control character is what it looks for
const NAME = /^[^,@/\u0000-\u001f\u007f]+$/;

export const deploymentList = listOf(
  { name: 'ID, name:NAME or name:NAME/TAG, each with or without @TTL', parse: parseDeployment },
  labelOf,
);

function parseDeployment(entry: string): Parsed<Wanted> {
  const [subject = '', ttlText, ...rest] = entry.split('@');
  if (rest.length > 0) return wrong(entry, ALLOWED);
  const ttlMs = ttlText === undefined ? undefined : duration.parse(ttlText).value;
  if (ttlText !== undefined && ttlMs === undefined)
    return wrong(entry, `${subject || 'ID'}@TTL with TTL ${DURATION_ALLOWED}`);
  if (!subject.startsWith(NAME_PREFIX)) {
    const { value } = id.parse(subject);
    return value === undefined ? wrong(entry, ALLOWED) : fine({ by: 'id', id: value, ttlMs });
  }
  const [name = '', tag, ...more] = subject
    .slice(NAME_PREFIX.length)
    .split('/')
    .map((part) => part.trim());
  if (more.length > 0 || !NAME.test(name) || (tag !== undefined && !NAME.test(tag)))
    return wrong(entry, NAME_ALLOWED);
  return fine({ by: 'name', name, tag, ttlMs });
}

const wantedGroup = valueType(
  'ID, endpoint:NAME, or all',
  'the id of a worker group, endpoint:NAME, or all',
  (text): WantedLog | undefined => {
    if (text.toLowerCase() === 'all') return { by: 'all' };
    const [, name] = /^endpoint:\s*(.+)$/s.exec(text) ?? [];
    if (name !== undefined) return { by: 'name', name };
    const { value } = id.parse(text);
    return value === undefined ? undefined : { by: 'id', id: value };
  },
);

export const groupList = listOf(wantedGroup, (wanted) =>
  wanted.by === 'name' ? `endpoint:${wanted.name}` : wanted.by === 'id' ? String(wanted.id) : 'all',
);

const wantedEndpoint = valueType(
  'ID, NAME, or all',
  'the id or the name of an endpoint, or all',
  (text): WantedEndpoint | undefined => {
    if (text === 'all') return { by: 'all' };
    const { value } = id.parse(text);
    if (value !== undefined) return { by: 'id', id: value };
    return text === '' ? undefined : { by: 'name', name: text };
  },
);

export const endpointList = listOf(wantedEndpoint, (wanted) =>
  wanted.by === 'name' ? wanted.name : wanted.by === 'id' ? String(wanted.id) : 'all',
);
