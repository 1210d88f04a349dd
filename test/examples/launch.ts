// Stores a template, launches an instance from it on the first of some offers that gets to run, and cleans up.
//   node launch.ts 3004 3001
import { createClient, launchInstance } from 'pilotlight';

const {
  PILOTLIGHT_BASE_URL: baseUrl = 'http://127.0.0.1:8080',
  PILOTLIGHT_API_KEY: apiKey = 'emulator-key',
} = process.env;
const offers = process.argv.slice(2).map(Number);

const client = createClient({ baseUrl, apiKey });
try {
  const { template } = await client.templates.create({
    name: 'vllm',
    image: 'vllm/vllm-openai',
    env: '-e HF_HOME=/models -p 8000:8000',
    docker_login_repo: '',
    docker_login_user: '',
    docker_login_pass: '',
  });
  // An edit changes the hash_id by which the next call must name the template.
  const { template: edited } = await client.templates.edit({
    hash_id: template.hash_id,
    desc: 'serves chat',
  });

  const { instanceId, offerId, givenUp } = await launchInstance(client, {
    offers,
    request: { template_hash_id: edited.hash_id, disk: 40, env: '-e MODEL=small' },
    pollMs: 20,
    onProgress: (progress) => console.log(progress),
  });
  console.log(`instance ${instanceId} runs on offer ${offerId}; given up before: ${givenUp.length}`);

  await client.instances.destroy({ id: instanceId });
  if (template.id !== undefined) await client.templates.delete({ template_id: template.id });
} finally {
  await client[Symbol.asyncDispose]();
}
