/** Where the file of a deployment is posted: multipart, the fields first, answered as an object store does. */
import { textAnswer, type Answer } from '../answers/answer.ts';
import { receiveFile } from '../handlers/deployments.ts';
import type { World } from '../service/world.ts';

export async function takeUpload(
  world: World,
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Answer> {
  const form = await new Response(body, { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => undefined);
  const [key, policy, file] = ['key', 'policy', 'file'].map((name) => form?.get(name) ?? undefined);
  if (typeof key !== 'string' || typeof policy !== 'string' || !(file instanceof Blob)) {
    return denied(400, 'MalformedPOSTRequest');
  }
  const received = receiveFile(world.state, { key, policy }, file.size, world.now());
  if (received === 'stored') return { status: 204, contentType: 'text/plain', text: '' };
  return denied(received === 'AccessDenied' ? 403 : 400, received);
}

function denied(status: number, code: string): Answer {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`;
  return textAnswer(status, 'application/xml', xml);
}
