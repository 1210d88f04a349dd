/** What leaves by a listener, without secrets: the words of a service or a Redis may have some, and they are on the page. */
import type { Redaction } from '../../contract/text/redaction.ts';
import type { Reply } from './reply.ts';

/** Of files that are the same for everybody. */
const OUR_OWN = /^(?:text\/(?:html|css|javascript)|image\/)/;

export function redactedReply(reply: Reply, redaction: Redaction): Reply {
  const { type, body } = reply;
  if (OUR_OWN.test(type)) return reply;
  if (type.includes('json')) return { ...reply, body: redaction.json(body) };
  // The exposition format of Prometheus has a version; other plain text has none.
  return { ...reply, body: type.includes('version=') ? redaction.metrics(body) : redaction.text(body) };
}
