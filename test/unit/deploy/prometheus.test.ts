import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeWith, hasCommand, root } from '../../support/optional.ts';

const folder = `${root}deploy/prometheus/`;
const rules = readFileSync(`${folder}pilotlight.rules.yml`, 'utf8');
/** One of them has a rule for each severity. */
const alerts = [...new Set([...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name))];

describeWith(
  'promtool',
  hasCommand('promtool', '--version'),
  'apt-get install prometheus',
)('the alert rules', () => {
  test.each([
    ['check', 'rules', 'pilotlight.rules.yml'],
    ['test', 'rules', 'pilotlight.rules.test.yml'],
  ])('promtool %s %s succeeds', { timeout: 120_000 }, (...args) => {
    // It makes much garbage of few megabytes: to collect that as often as Go does takes a third of its time.
    const env = { ...process.env, GOGC: '400' };
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8', env });
    expect(status, stdout + stderr).toBe(0);
  });
});

describe('each alert', () => {
  const cases = readFileSync(`${folder}pilotlight.rules.test.yml`, 'utf8');
  const runbooks = readFileSync(`${folder}runbooks.md`, 'utf8');

  test.each(alerts)('%s fires in one test, is silent in its twin, and has a runbook', (alert) => {
    expect(cases).toContain(`- name: ${alert} fires\n`);
    expect(cases).toContain(`- name: ${alert} is silent\n`);
    const title = alert.replace('Pilotlight', '');
    expect(rules).toContain(`runbook_url: runbooks.md#${title.toLowerCase()}\n`);
    const [, text = ''] = runbooks.split(`\n## ${title}\n`);
    const own = text.split('\n## ')[0] ?? '';
    for (const part of ['Meaning', 'Impact', 'Diagnosis', 'Mitigation'])
      expect(own).toContain(`**${part}.**`);
  });

  test('uses only metrics that the daemon has', () => {
    const page = readFileSync(`${root}deploy/README.md`, 'utf8');
    const used = new Set([...rules.matchAll(/\bpilotlight_[a-z_]+/g)].map(([name]) => name));
    for (const name of used) expect(page).toContain(`\`${name}\``);
    expect(alerts).toHaveLength(47);
  });
});
