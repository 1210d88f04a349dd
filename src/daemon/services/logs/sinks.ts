import type { Logger } from 'pino';
import type { LineOutput } from '../../../logs/sinks/line-output.ts';
import type { Sink } from '../../../logs/sinks/sink.ts';
import { withPlainLines } from '../../../logs/sinks/plain-lines.ts';
import { stdoutSink } from '../../../logs/sinks/stdout.ts';
import type { Settings } from '../../../config/options.ts';

export type SinkSettings = Pick<
  Settings,
  'logSinks' | 'logAnsi' | 'logFile' | 'logFileMaxBytes' | 'logFileMaxFiles' | 'otlpEndpoint' | 'otlpHeaders'
>;

export function openSinks(settings: SinkSettings, stdout: LineOutput, logger: Logger): Promise<Sink[]> {
  return Promise.all(
    settings.logSinks.map(async (name) => {
      switch (name) {
        case 'stdout':
          return stdoutSink(stdout);
        case 'file':
        case 'otlp': {
          const sink = await (name === 'file' ? openFileSink(settings, logger) : openOtlpSink(settings));
          return settings.logAnsi === 'strip' ? withPlainLines(sink) : sink;
        }
      }
    }),
  );
}

async function openFileSink(settings: SinkSettings, logger: Logger): Promise<Sink> {
  const { logFile: path, logFileMaxBytes: maxBytes, logFileMaxFiles: maxFiles } = settings;
  if (path === undefined) throw new Error('the configuration check lets no file sink without a path through');
  const { fileSink } = await import('../../../logs/sinks/file.ts');
  return fileSink({
    path,
    maxBytes,
    maxFiles,
    onUntidy: (error) =>
      logger.warn({ err: error, path }, 'rotated log files were not compressed or removed'),
  });
}

async function openOtlpSink({
  otlpEndpoint: endpoint,
  otlpHeaders: headers = {},
}: SinkSettings): Promise<Sink> {
  if (endpoint === undefined)
    throw new Error('the configuration check lets no OTLP sink without an address through');
  const { otlpSink } = await import('../../../logs/sinks/otlp.ts');
  return otlpSink({ endpoint, headers });
}
