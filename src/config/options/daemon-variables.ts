/**
 * The names of the variables that only the daemon reads. The heart knows a misspelt name by this list, without
 * loading the table itself (daemon-options.ts), whose types bring the rules of endpoint groups and a cron parser.
 */
export const DAEMON_VARIABLES = [
  'SERVERLESS_URL',
  'WORKER_GROUPS',
  'LOG_SINKS',
  'LOG_FILE',
  'LOG_FILE_MAX_BYTES',
  'LOG_FILE_MAX_FILES',
  'OTLP_ENDPOINT',
  'OTLP_HEADERS',
  'LOG_START',
  'FOLLOW_LEVELS',
  'STATE_DIR',
  'ENDPOINT_GROUPS',
  'ENDPOINTS',
  'FLEET_INTERVAL',
  'BUDGET_PER_HOUR',
  'MACHINES',
  'MAINTENANCE_SCHEDULE',
  'INSTANCES_SCHEDULE',
  'ACCOUNT_SCHEDULE',
  'REDIS_URL',
  'REDIS_PREFIX',
  'LISTEN',
  'ADMIN_LISTEN',
  'METRICS_TOKEN',
  'PUBLIC_STATUS',
] as const;

export type DaemonVariable = (typeof DAEMON_VARIABLES)[number];
