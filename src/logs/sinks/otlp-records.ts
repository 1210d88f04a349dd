/** Log records as OpenTelemetry has them. */
import { SeverityNumber } from '@opentelemetry/api';
import type { ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { Gap, LogRecord } from '../record.ts';

type OtlpRecord = Parameters<typeof ProtobufLogsSerializer.serializeRequest>[0][number];

const SCOPE = { name: 'pilotlight' };

const SEVERITIES = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
} as const;

/** Each log is a resource of its own. So a receiver's stream has rising times, and no line repeats another log's. */
export function toOtlpRecords(records: readonly LogRecord[]): OtlpRecord[] {
  const resources = new Map<string, OtlpRecord['resource']>();
  return records.map((record) => {
    const { workergroup_id, endpoint_id } = record;
    const log = endpoint_id === undefined ? `workergroup-${workergroup_id}` : `endpoint-${endpoint_id}`;
    const resource = resources.get(log) ?? resourceOf(log);
    resources.set(log, resource);
    const time = hrTimeOf(microsOf(record.time));
    return {
      // The service does not tell when a line was written, so both times are that of its reading.
      hrTime: time,
      hrTimeObserved: time,
      resource,
      instrumentationScope: SCOPE,
      droppedAttributesCount: 0,
      ...contentOf(record),
    };
  });
}

function resourceOf(log: string): OtlpRecord['resource'] {
  return resourceFromAttributes({ 'service.name': 'pilotlight', 'service.instance.id': log });
}

function contentOf(
  record: LogRecord,
): Pick<OtlpRecord, 'body' | 'attributes' | 'severityNumber' | 'severityText'> {
  const { workergroup_id, endpoint, endpoint_id, epoch, seq, level } = record;
  const origin = endpoint === undefined ? { workergroup_id } : { endpoint, endpoint_id };
  const attributes = { ...origin, epoch, seq, ...(level !== undefined && { level }) };
  if ('line' in record) return { body: record.line, attributes, ...severityOf(level) };
  const { reason, lost_min, lost_estimate } = record.gap;
  return {
    body: describe(record.gap),
    attributes: {
      ...attributes,
      'gap.reason': reason,
      'gap.lost_min': lost_min,
      ...(lost_estimate !== null && { 'gap.lost_estimate': lost_estimate }),
    },
    severityNumber: SEVERITIES.warn,
    severityText: 'WARN',
  };
}

function describe({ reason, lost_min, lost_estimate }: Gap): string {
  return `gap in the log (${reason}): at least ${lost_min} lines lost, ${lost_estimate === null ? 'how many is unknown' : `about ${lost_estimate}`}`;
}

function severityOf(level: string | undefined): Pick<OtlpRecord, 'severityNumber' | 'severityText'> {
  const name = level?.replace(/\d+$/, '') ?? '';
  if (!Object.hasOwn(SEVERITIES, name)) return {};
  return { severityNumber: SEVERITIES[name as keyof typeof SEVERITIES], severityText: name.toUpperCase() };
}

/** A Date would lose the microseconds. */
function microsOf(time: string): number {
  return Date.parse(`${time.slice(0, 23)}Z`) * 1000 + Number(time.slice(23, 26));
}

/** Seconds and nanoseconds. */
function hrTimeOf(micros: number): [number, number] {
  const seconds = Math.floor(micros / 1_000_000);
  return [seconds, (micros - seconds * 1_000_000) * 1000];
}
