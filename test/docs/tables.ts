/**
 * The tables of the documents that have a source in the code, and the published schemas: `npm run readme` writes them,
 * and tests check that they are what the code says.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ZodDefault, type ZodObject, type ZodType } from 'zod';
import { processConsole } from '../../src/cli/console.ts';
import { flagsOf } from '../../src/cli/operations/flags.ts';
import { commandOf } from '../../src/cli/operations/names.ts';
import { createProgram } from '../../src/cli/program.ts';
import { EXIT, EXIT_MEANINGS } from '../../src/config/exit-codes.ts';
import {
  DAEMON_OPTIONS,
  FEATURES,
  OPTION_KEYS,
  OPTIONS,
  PREFIX,
  type Feature,
  type Option,
} from '../../src/config/options.ts';
import { ASSUMPTION_IDS, assumptionOf } from '../../src/contract/assumptions.ts';
import { OPERATION_IDS, operationOf, type OperationId } from '../../src/contract/operations.ts';
import {
  ENDPOINT_GROUP_DEFAULTS,
  ENDPOINT_GROUP_PARAMETERS,
  MEANINGS,
} from '../../src/contract/operations/serverless/endpoint-groups.ts';
import { billJsonSchema } from '../../src/daemon/http/bill.ts';
import { fleetJsonSchema } from '../../src/daemon/http/fleet.ts';
import { createMetrics } from '../../src/daemon/metrics.ts';
import { statusJsonSchema } from '../../src/daemon/status/schema.ts';
import { adminRoutes, type AdminParts } from '../../src/emulator/admin/routes.ts';
import { faultSchema } from '../../src/emulator/faults.ts';
import { bucketTrait, rateLimitTrait, settingsSchema, TRAITS } from '../../src/emulator/state/settings.ts';
import { allowedValues } from '../../src/scaling/rules/check.ts';
import { RULES } from '../../src/scaling/rules/rules.ts';
import { benchTable, readResults } from '../bench/results.ts';
import { mutationRows } from '../mutation/results.ts';
import { EMPTY_STATUS } from '../support/empty-status.ts';
import { expositionOf } from '../support/exposition.ts';
import { DOCUMENTS, textOf, urlOf } from './documents.ts';
import { valuesJsonSchema } from './values-schema.ts';

export const PUBLISHED_SCHEMAS = {
  'deploy/status.schema.json': statusJsonSchema,
  'deploy/fleet.schema.json': fleetJsonSchema,
  'deploy/bill.schema.json': billJsonSchema,
  'deploy/helm/pilotlight/values.schema.json': valuesJsonSchema,
};

const MUTATION_HEADER = [
  'npm run test:mutation --',
  'mutants',
  'tried',
  'noticed',
  'share',
  '95 %',
  'not reached',
];

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(header), line(header.map(() => '---')), ...rows.map((row) => line(row))].join('\n');
}

function environmentTable(): string {
  const rows = OPTION_KEYS.map((key) => {
    const { variable, type, fallback, required, doc }: Option = OPTIONS[key];
    const byDefault = required ? 'required' : fallback ? `\`${fallback}\`` : 'not set';
    return [`\`${PREFIX}${variable}\``, type.name, byDefault, doc];
  });
  return table(['variable', 'type', 'default', 'meaning'], rows);
}

/** What a malformed value of the daemon's variables switches off. */
function featuresTable(): string {
  const options: readonly { readonly variable: string; readonly feature: Feature }[] =
    Object.values(DAEMON_OPTIONS);
  const rows = (Object.keys(FEATURES) as Feature[]).map((name) => {
    const variables = options.filter(({ feature }) => feature === name);
    return [variables.map(({ variable }) => `\`${variable}\``).join(', '), FEATURES[name]];
  });
  return table(['malformed', 'then'], rows);
}

/** Name, type and help of ours, read from the text that a daemon with nothing configured exposes. */
async function metricsTable(): Promise<string> {
  const metrics = createMetrics(() => EMPTY_STATUS, OPERATION_IDS);
  const text = await expositionOf(metrics);
  const rows = [...text.matchAll(/^# HELP (pilotlight_\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(
    ([, name = '', help = '', type = '']) => [`\`${name}\``, type, help],
  );
  return table(
    ['metric', 'type', 'meaning'],
    rows.toSorted(([a = ''], [b = '']) => a.localeCompare(b)),
  );
}

function operationsTable(): string {
  const rows = OPERATION_IDS.map((id) => {
    const { method, path, summary, source, publicSpacingMs } = operationOf(id);
    const spacing = publicSpacingMs === undefined ? '' : `${publicSpacingMs / 1000} s`;
    return [`\`${id}\``, `\`${usageOf(id)}\``, `\`${method} ${path}\``, summary, source, spacing];
  });
  return table(['operation', 'command', 'request', 'does', 'source', 'spacing'], rows);
}

/** The program's own commands, as its help has them. */
async function commandsTable(): Promise<string> {
  const program = await createProgram(processConsole(), ['run']);
  const rows = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .map((command) => [
      `\`${command.name()} ${command.usage()}\``.replace(' [options]', ''),
      command.description(),
    ]);
  return table(['command', 'does'], rows);
}

function exitCodesTable(): string {
  const codes = Object.keys(EXIT) as (keyof typeof EXIT)[];
  return table(
    ['exit code', 'means'],
    codes.map((name) => [String(EXIT[name]), EXIT_MEANINGS[name]]),
  );
}

/** A file of test/examples/, which the e2e test runs. */
function example(name: string): string {
  const text = readFileSync(new URL(`../examples/${name}`, import.meta.url), 'utf8');
  return `\`\`\`ts\n${text.trimEnd()}\n\`\`\``;
}

/** The rules over values together; those over single values say what the contract's types say. */
function rulesTable(): string {
  const rows = Object.entries(RULES).map(([id, { severity = 'warning', parameter, allowed }]) => [
    `\`${id}\``,
    severity,
    `\`${parameter}\``,
    allowed,
  ]);
  return table(['rule', 'severity', 'parameter', 'allowed'], rows);
}

function parametersTable(): string {
  const rows = ENDPOINT_GROUP_PARAMETERS.map((name) => {
    const byDefault =
      name in ENDPOINT_GROUP_DEFAULTS
        ? String(ENDPOINT_GROUP_DEFAULTS[name as keyof typeof ENDPOINT_GROUP_DEFAULTS])
        : 'none';
    return [`\`${name}\``, allowedValues(name), byDefault, MEANINGS[name]];
  });
  return table(['parameter', 'allowed', 'default', 'is'], rows);
}

interface AlertRule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

function alertsTable(): string {
  const { groups } = parse(textOf('deploy/prometheus/pilotlight.rules.yml')) as {
    readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
  };
  const rows = groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, labels, annotations: { summary, runbook_url } }) => [
      `[\`${alert}\`](prometheus/${runbook_url})`,
      labels.severity,
      summary
        .replaceAll(/\{\{ with [^}]*\}\}(.*?)\{\{ else \}\}(.*?)\{\{ end \}\}/g, '$1, or $2')
        .replaceAll(/\{\{ (?:\.|\$(?:labels\.)?\w+)[^}]*\}\}/g, '…'),
    ]);
  return table(['alert', 'severity', 'says'], rows);
}

/** Numbers of the emulator that the interface does not show. */
function settingsTable(ofFleet: boolean): string {
  const settings = Object.entries(settingsSchema.shape).filter(
    ([name]) => /^(?:worker|engine|request)/.test(name) === ofFleet,
  );
  const rows = settings.map(([name, schema]) => [
    `\`${name}\``,
    `\`${String(schema.def.defaultValue)}\``,
    schema.description ?? '',
  ]);
  return table(['setting', 'default', 'is'], rows);
}

function faultsTable(): string {
  const common = new Set(Object.keys(selectionOf('latency')).filter((field) => field in selectionOf('hang')));
  const rows = faultSchema.options.map(({ shape }) => {
    const kind = shape.kind.value;
    const own = Object.keys(shape).filter((field) => field === 'takesEffect' || !common.has(field));
    return [`\`${kind}\``, own.map((field) => `\`${field}\``).join(', ')];
  });
  return table(['kind', 'own fields'], rows);
}

function selectionOf(kind: string): object {
  return faultSchema.options.find(({ shape }) => shape.kind.value === kind)?.shape ?? {};
}

function traitsTable(): string {
  const rows = Object.entries(TRAITS).map(([name, { values, spec, public: inPublic, is }]) => [
    `\`${name}\``,
    is,
    values,
    `\`${spec}\``,
    `\`${inPublic}\``,
  ]);
  return table(['trait', 'is', 'values', 'spec dialect', 'public dialect'], rows);
}

function assumptionsTable(): string {
  const rows = ASSUMPTION_IDS.map((id) => {
    const { assumes, evidence, reliesOn, foundBy, outcomes } = assumptionOf(id);
    const values = Object.keys(outcomes).map((value) => `\`${value}\``);
    return [`\`${id}\``, assumes, evidence, reliesOn, foundBy, values.join(', ')];
  });
  return table(['trait', 'we assume', 'because of', 'relies on it', 'found out by', 'values'], rows);
}

function fieldsTable(title: string, { shape }: ZodObject): string {
  const rows = Object.entries(shape as Record<string, ZodType>).map(([name, schema]) => [
    `\`${name}\``,
    schema instanceof ZodDefault ? `\`${String(schema.def.defaultValue)}\`` : '',
    schema.description ?? '',
  ]);
  return table([title, 'default', 'is'], rows);
}

/** The routes are made without what they work on, for none of them is called. */
function adminTable(): string {
  const routes = Map.groupBy(adminRoutes({} as AdminParts), ({ path }) => path);
  const rows = [...routes].map(([path, there]) => [
    `\`/_emulator${path}\``,
    there.map(({ method, summary }) => `\`${method}\` ${summary}`).join('; '),
  ]);
  return table(['path', 'does'], rows);
}

export async function generatedTables(): Promise<Readonly<Record<string, string>>> {
  return {
    alerts: alertsTable(),
    assumptions: assumptionsTable(),
    emulator_settings: settingsTable(false),
    emulator_fleet_settings: settingsTable(true),
    emulator_faults: faultsTable(),
    emulator_traits: traitsTable(),
    emulator_rate_limit: fieldsTable('field of `rate_limit`', rateLimitTrait),
    emulator_bucket: fieldsTable('field of a bucket', bucketTrait),
    emulator_admin: adminTable(),
    environment: environmentTable(),
    features: featuresTable(),
    metrics: await metricsTable(),
    operations: operationsTable(),
    commands: await commandsTable(),
    exit_codes: exitCodesTable(),
    example_heartbeat: example('heartbeat.ts'),
    parameters: parametersTable(),
    rules: rulesTable(),
    bench: benchTable(readResults()),
    mutation: table(MUTATION_HEADER, mutationRows()),
  };
}

export function withTables(text: string, tables: Readonly<Record<string, string>>): string {
  return text.replace(
    /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}${tables[name] ?? `no table ${name}`}\n${end}`,
  );
}

if (import.meta.main) {
  const tables = await generatedTables();
  for (const path of DOCUMENTS) {
    const text = textOf(path);
    const written = withTables(text, tables);
    if (written !== text) writeFileSync(urlOf(path), written);
  }
  for (const [path, schema] of Object.entries(PUBLISHED_SCHEMAS))
    writeFileSync(urlOf(path), `${JSON.stringify(schema(), null, 2)}\n`);
  // Helm reads nothing outside of a chart, and a link does not outlive a copy of it.
  copyFileSync(
    urlOf('deploy/prometheus/pilotlight.rules.yml'),
    urlOf('deploy/helm/pilotlight/rules/pilotlight.rules.yml'),
  );
}

/** Its name and what it cannot do without: `template create --name <text> --image <text>`. */
function usageOf(id: OperationId): string {
  const needed = flagsOf(operationOf(id)).filter(
    ({ required, fallback }) => required && fallback === undefined,
  );
  const words = needed.map(({ name, subject, takes }) => (subject ? `<${name}>` : `--${name} <${takes}>`));
  return [commandOf(id), ...words].join(' ');
}
