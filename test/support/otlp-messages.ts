/**
 * The messages of OTLP logs (opentelemetry-proto 1, stable), for an encoder and decoder that shares nothing with
 * the official serializer under test: protobufjs reads the binary form, and by its own JSON mapping the JSON form.
 */
import protobuf from 'protobufjs';

const field = (type: string, id: number) => ({ type, id });
const list = (type: string, id: number) => ({ rule: 'repeated', type, id });

const root = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { resourceLogs: list('ResourceLogs', 1) } },
    Response: { fields: { partialSuccess: field('PartialSuccess', 1) } },
    PartialSuccess: { fields: { rejectedLogRecords: field('int64', 1), errorMessage: field('string', 2) } },
    ResourceLogs: {
      fields: {
        resource: field('Resource', 1),
        scopeLogs: list('ScopeLogs', 2),
        schemaUrl: field('string', 3),
      },
    },
    Resource: { fields: { attributes: list('KeyValue', 1), droppedAttributesCount: field('uint32', 2) } },
    ScopeLogs: {
      fields: { scope: field('Scope', 1), logRecords: list('LogRecord', 2), schemaUrl: field('string', 3) },
    },
    Scope: { fields: { name: field('string', 1), version: field('string', 2) } },
    LogRecord: {
      fields: {
        timeUnixNano: field('fixed64', 1),
        severityNumber: field('uint32', 2),
        severityText: field('string', 3),
        body: field('AnyValue', 5),
        attributes: list('KeyValue', 6),
        droppedAttributesCount: field('uint32', 7),
        observedTimeUnixNano: field('fixed64', 11),
      },
    },
    KeyValue: { fields: { key: field('string', 1), value: field('AnyValue', 2) } },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'bytesValue'] } },
      fields: {
        stringValue: field('string', 1),
        boolValue: field('bool', 2),
        intValue: field('int64', 3),
        doubleValue: field('double', 4),
        bytesValue: field('bytes', 7),
      },
    },
  },
});

type AnyValue = Readonly<Record<string, string | number | boolean>> & { readonly value: string };
type Attributes = readonly { readonly key: string; readonly value: AnyValue }[];
interface Request {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeLogs: readonly {
      readonly scope: { readonly name: string };
      readonly logRecords: readonly {
        readonly timeUnixNano: string;
        readonly observedTimeUnixNano: string;
        readonly severityNumber: number;
        readonly severityText: string;
        readonly body: AnyValue;
        readonly attributes: Attributes;
      }[];
    }[];
  }[];
}

export interface OtlpLogRecord {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
  readonly time: bigint;
  readonly observed: bigint;
  readonly severity: string;
  readonly body: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export type OtlpEncoding = 'protobuf' | 'json';

export function decodeRequest(encoding: OtlpEncoding, body: Buffer): readonly OtlpLogRecord[] {
  const type = root.lookupType('Request');
  const message = encoding === 'json' ? type.fromObject(parsed(body)) : type.decode(body);
  const { resourceLogs } = type.toObject(message, { longs: String, oneofs: true, defaults: true }) as Request;
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ scope, logRecords }) =>
      logRecords.map((record) => ({
        resource: plain(resource.attributes),
        scope: scope.name,
        time: BigInt(record.timeUnixNano),
        observed: BigInt(record.observedTimeUnixNano),
        severity: `${record.severityNumber} ${record.severityText}`,
        body: valueOf(record.body),
        attributes: plain(record.attributes),
      })),
    ),
  );
}

export function encodeResponse(
  encoding: OtlpEncoding,
  partialSuccess?: { rejectedLogRecords: number; errorMessage: string },
): Buffer {
  const fields = partialSuccess === undefined ? {} : { partialSuccess };
  const type = root.lookupType('Response');
  const message = type.fromObject(fields);
  // As the specification's JSON mapping has it: 64-bit integers are strings.
  if (encoding === 'json') return Buffer.from(JSON.stringify(type.toObject(message, { longs: String })));
  return Buffer.from(type.encode(message).finish());
}

function parsed(body: Buffer): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

function plain(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(any: AnyValue): unknown {
  const value = any[any.value];
  return any.value === 'intValue' ? Number(value) : value;
}
