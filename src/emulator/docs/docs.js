// The interface as a page: draws /openapi.json and sends its examples to the emulator. Everything reaches the
// page through textContent, never as markup.

const key = document.getElementById('key');
const find = document.getElementById('find');
let spec;

/** @param {string} tag @param {Record<string, string>} attributes @param {(Node | string)[]} children */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function resolved(object) {
  let target = object;
  while (target?.$ref) {
    target = target.$ref
      .slice(2)
      .split('/')
      .reduce((value, part) => value[part], spec);
  }
  return target ?? {};
}

function typeOf(schema) {
  const { type, anyOf, allOf, enum: values, items, format } = resolved(schema);
  if (values) return values.join(' | ');
  if (anyOf ?? allOf) return (anyOf ?? allOf).map(typeOf).join(' or ');
  const name = [type ?? 'any'].flat().join(' or ');
  return type === 'array' ? `array of ${typeOf(items)}` : format ? `${name} (${format})` : name;
}

const LIMITS = ['minimum', 'exclusiveMinimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'default'];

function limitsOf(schema) {
  return LIMITS.filter((name) => schema[name] !== undefined)
    .map((name) => `${name} ${schema[name] === '' ? 'empty' : schema[name]}`)
    .join(', ');
}

function row(name, type, required, description) {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, element('code', {}, name), required ? ' (required)' : ''),
    element('td', {}, type),
    element('td', {}, description),
  );
}

/** Fields of an object, those of objects in it too. */
function fieldRows(reference, prefix = '') {
  const { properties = {}, required = [] } = resolved(reference);
  return Object.entries(properties).flatMap(([name, field]) => {
    const schema = resolved(field);
    const about = [field.description ?? schema.description, limitsOf(schema)].filter(Boolean).join('; ');
    const nested = schema.items
      ? fieldRows(schema.items, `${prefix}${name}[].`)
      : fieldRows(schema, `${prefix}${name}.`);
    return [row(prefix + name, typeOf(field), required.includes(name), about)].concat(nested);
  });
}

function section(title, rows) {
  return rows.length === 0
    ? []
    : [element('h3', {}, title), element('table', {}, element('tbody', {}, ...rows))];
}

function jsonOf(media) {
  return media?.content?.['application/json'];
}

/** What an example sends: the path with its parameters filled in, and the body. */
function exampleOf(path, { parameters = [], requestBody }) {
  const query = new URLSearchParams();
  let target = path;
  for (const parameter of parameters) {
    const { name, example } = parameter.content
      ? { ...parameter, example: jsonOf(parameter).example }
      : parameter;
    if (parameter.in === 'path') target = target.replace(`{${name}}`, encodeURIComponent(example));
    else query.append(name, typeof example === 'string' ? example : JSON.stringify(example));
  }
  const body = jsonOf(requestBody)?.example;
  return { target: query.size > 0 ? `${target}?${query}` : target, body };
}

async function send(method, target, body, output) {
  output.textContent = 'Sending …';
  try {
    const headers = { accept: 'application/json' };
    if (key.value !== '') headers.authorization = `Bearer ${key.value}`;
    const response = await fetch(target, {
      method,
      headers,
      signal: AbortSignal.timeout(30_000),
      ...(body !== undefined && { body: body.replaceAll('"API_KEY"', JSON.stringify(key.value)) }),
    });
    const text = await response.text();
    const reason = response.headers.get('x-emulator-reason');
    let shown = text;
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Not JSON: shown as it is.
    }
    output.textContent = `${response.status}${reason ? ` (${reason})` : ''}\n${shown}`;
  } catch (error) {
    output.textContent = `No answer: ${error.message}`;
  }
}

function tryIt(method, path, operation) {
  const { target, body } = exampleOf(path, operation);
  const address = element('textarea', { rows: '1', 'aria-label': 'Path', spellcheck: 'false' });
  address.value = target;
  const text = element('textarea', { 'aria-label': 'Body', spellcheck: 'false' });
  text.value = body === undefined ? '' : JSON.stringify(body, null, 2);
  text.rows = Math.min(16, text.value.split('\n').length);
  const output = element('pre', { 'aria-live': 'polite' });
  output.hidden = true;
  const button = element('button', { type: 'button' }, 'Send to the emulator');
  button.addEventListener('click', () => {
    output.hidden = false;
    void send(method, address.value, body === undefined ? undefined : text.value, output);
  });
  return [element('h3', {}, 'Try it'), address, ...(body === undefined ? [] : [text]), button, output];
}

function responseRows({ responses }) {
  return Object.entries(responses).map(([status, { description }]) => {
    const lines = description.split('\n').map((line) => line.replace(/^- /, '').replaceAll('`', ''));
    const text =
      lines.length === 1 ? lines[0] : element('ul', {}, ...lines.map((line) => element('li', {}, line)));
    return element('tr', {}, element('th', { scope: 'row' }, status), element('td', {}, text));
  });
}

function details(method, path, operation) {
  const {
    operationId,
    summary,
    description,
    deprecated,
    parameters = [],
    requestBody,
    responses,
  } = operation;
  const node = element(
    'details',
    { id: operationId, class: deprecated ? 'deprecated' : '' },
    element(
      'summary',
      {},
      element('span', { class: `method ${method}` }, method.toUpperCase()),
      element('code', {}, path),
      element('span', { class: 'quiet' }, summary),
    ),
  );
  // Drawn when it is opened: there are many.
  node.addEventListener('toggle', () => {
    if (!node.open || node.childElementCount > 1) return;
    const answer = jsonOf(responses['200']);
    node.append(
      element(
        'div',
        { class: 'body' },
        element('p', {}, description.replaceAll('`', '')),
        element('p', { class: 'quiet' }, `${operationId} · ${operation['x-origin']}`),
        ...section(
          'Parameters',
          parameters.map((parameter) =>
            row(
              `${parameter.name} (${parameter.in})`,
              typeOf(parameter.schema ?? jsonOf(parameter).schema),
              parameter.required,
              parameter.description ?? '',
            ),
          ),
        ),
        ...section('Body', fieldRows(jsonOf(requestBody)?.schema)),
        ...tryIt(method.toUpperCase(), path, operation),
        ...section('Answer', fieldRows(answer.schema)),
        element('pre', {}, JSON.stringify(answer.example, null, 2)),
        ...section('Answers by status', responseRows(operation)),
      ),
    );
  });
  return node;
}

function operations() {
  return Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
}

function draw() {
  const all = operations();
  document.getElementById('title').textContent = `${spec.info.title} ${spec.info.version}`;
  const groups = spec.tags.map(({ name }) => {
    const own = all.filter(({ operation }) => operation.tags.includes(name));
    const items = own.map(({ method, path, operation }) => details(method, path, operation));
    return element('section', { 'aria-label': name }, element('h2', {}, name), ...items);
  });
  document.getElementById('operations').replaceChildren(...groups);
  filter();
  openNamed();
}

function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { method, path, operation } of operations()) {
    const { operationId, summary, description } = operation;
    const text = [method, path, operationId, summary, description].join(' ').toLowerCase();
    const found = words.every((word) => text.includes(word));
    document.getElementById(operationId).hidden = !found;
    if (found) count += 1;
  }
  for (const group of document.querySelectorAll('section')) {
    group.hidden = group.querySelector('details:not([hidden])') === null;
  }
  document.getElementById('count').textContent = `${count} ${count === 1 ? 'operation' : 'operations'}`;
}

/** /docs#deployments.heartbeat opens it. */
function openNamed() {
  const node = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(node instanceof HTMLDetailsElement)) return;
  node.open = true;
  node.scrollIntoView();
}

find.addEventListener('input', filter);
addEventListener('hashchange', openNamed);
try {
  spec = await (await fetch('/openapi.json', { signal: AbortSignal.timeout(10_000) })).json();
  draw();
} catch (error) {
  document.getElementById('count').textContent = `openapi.json cannot be read: ${error.message}`;
}
