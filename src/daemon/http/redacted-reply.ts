/** What leaves by a listener, without secrets: the words of a service or a Redis may have some, and they are on the page. */
import type { Redaction } from '../../contract/text/redaction.ts';
import type { Reply } from './reply.ts';

/** Of files that are the same for everybody. */
const OUR_OWN = /^(?:text\/(?:html|css|javascript)|image\/)/;

export function redactedReply(reply: Reply, redaction: Redaction): Reply {
  if (OUR_OWN.test(reply.type)) return reply;
  const redacted = (text: string): string => redactedText(text, reply.type, redaction);
  const { body } = reply;
  return { ...reply, body: Array.isArray(body) ? body.map(redacted) : redacted(String(body)) };
}

function redactedText(text: string, type: string, redaction: Redaction): string {
  if (type.includes('json')) return redaction.json(text);
  // The exposition format of Prometheus has a version; other plain text has none.
  return type.includes('version=') ? redaction.metrics(text) : redaction.text(text);
}
