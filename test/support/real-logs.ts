/** 2,000 real lines each of three systems (Loghub, Zhu et al., ISSRE 2023). */
import { readFileSync } from 'node:fs';
import { realData } from './real-data.ts';

export type RealLog = 'OpenSSH' | 'Spark' | 'OpenStack' | 'OpenSSH without times';
export const REAL_LOGS: readonly RealLog[] = ['OpenSSH', 'Spark', 'OpenStack', 'OpenSSH without times'];

export function readRealLog(name: RealLog): readonly string[] {
  const [file = ''] = name.split(' ');
  const lines = readFileSync(`${realData}logs/${file}.log`, 'utf8').trimEnd().split('\r\n');
  // Without time and process id most lines repeat, which is what makes alignment hard.
  return name === 'OpenSSH without times'
    ? lines.map((line) => line.replace(/^.{15} LabSZ sshd\[\d+\]: /, ''))
    : lines;
}
