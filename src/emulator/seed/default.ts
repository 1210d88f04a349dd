import type { Seed } from './file.ts';

/** API key of the default seed; visibly not a real one. */
export const DEFAULT_API_KEY = 'emulator-key';
/** Key of the same user in a team's context, for team roles. */
export const DEFAULT_TEAM_KEY = 'emulator-team-key';

/** Authenticator secret of the default seed; `emulator.totp(1)` shows its code. */
export const DEFAULT_TOTP_SECRET = 'EMULATOREMULATOREMULATOREMULATOR';

const HOUR = 3600;

/** Each section holds until a seed names it. */
export const DEFAULT_SEED: Seed = {
  users: [
    {
      id: 1,
      username: 'dev',
      email: 'dev@example.com',
      tfa_methods: [
        { id: 1, method: 'totp', label: 'authenticator', totp_secret: DEFAULT_TOTP_SECRET, is_primary: true },
      ],
      backup_codes_remaining: 8,
      api_keys: [
        { name: 'default', key: DEFAULT_API_KEY },
        { name: 'team', key: DEFAULT_TEAM_KEY, team: true },
      ],
    },
  ],
  deployments: [
    { id: 42, name: 'square', ttl: 300 },
    { id: 43, name: 'square', tag: 'blue', ttl: 120 },
  ],
  workergroups: [
    { id: 7, lines_per_second: 2, history_seconds: 120, endpoint_id: 31, workers: [501, 502] },
    { id: 8, lines_per_second: 0.5, endpoint_id: 31 },
  ],
  machines: [
    {
      id: 11,
      maintenances: [{ id: 1, starts_in: 2 * HOUR, duration_hours: 3, maintenance_category: 'power' }],
    },
    {
      id: 12,
      maintenances: [
        { id: 2, starts_in: -30 * HOUR, duration_hours: 6, maintenance_category: 'disk' },
        { id: 3, starts_in: 72 * HOUR, duration_hours: 1, maintenance_category: 'gpu' },
      ],
    },
  ],
  instances: [
    { id: 501, machine_id: 11, label: 'steady', dph_total: 0.4, statuses: [{ actual_status: 'running' }] },
    { id: 502, machine_id: 11, label: 'starting', dph_total: 0.4 },
    {
      id: 503,
      machine_id: 12,
      label: 'ends after a quarter of an hour',
      statuses: [{ actual_status: 'running', seconds: 900 }, { actual_status: 'exited' }],
    },
    {
      id: 504,
      machine_id: 12,
      label: 'never starts',
      statuses: [
        { actual_status: 'created', seconds: 10 },
        { actual_status: 'loading', seconds: 60 },
        { actual_status: 'offline' },
      ],
    },
  ],
  templates: [
    // The contract's examples use it.
    { id: 9, name: 'vllm', image: 'vllm/vllm-openai', env: '-e HF_HOME=/models -p 8000:8000' },
    {
      id: 10,
      name: 'Jupyter Lab',
      image: 'jupyter/scipy-notebook',
      tag: '2024-10-07',
      creator_id: 2,
      recommended: true,
      runtype: 'jupyter',
      use_jupyter_lab: true,
      recommended_disk_space: 32,
      count_created: 120,
      recent_create_ago: HOUR,
      age_seconds: 900 * 24 * HOUR,
    },
    { id: 11, name: 'of somebody else', image: 'private/image', creator_id: 2, private: true },
  ],
  offers: [
    { id: 3001, machine_id: 11 },
    { id: 3002, machine_id: 11, num_gpus: 2, dph_total: 0.8 },
    { id: 3003, machine_id: 12, gpu_name: 'H100 SXM', gpu_ram: 81_559, dph_total: 2.1, disk_space: 2_000 },
    {
      id: 3004,
      machine_id: 12,
      dph_total: 0.15,
      // The cheapest offer, whose instance never runs.
      statuses: [
        { actual_status: 'created', seconds: 10 },
        { actual_status: 'loading', seconds: 60 },
        { actual_status: 'exited' },
      ],
    },
  ],
  endpoint_groups: [
    {
      id: 31,
      endpoint_name: 'chat',
      target_util: 0.9,
      max_workers: 20,
      // Without a load it keeps its two workers and recruits none.
      min_load: 1_500,
      cold_mult: 1,
      cold_workers: 2,
    },
  ],
};
