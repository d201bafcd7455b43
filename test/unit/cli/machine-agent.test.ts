/** Which commands of root are about the agent of the machine. */
import { expect, test } from 'vitest';
import { wordOf } from '../../../src/cli/command/command-words.ts';
import { isAbout, powersFor } from '../../../src/cli/install/machine-agent.ts';

const places = { state: '/var/lib/holdfast', config: '/etc/holdfast/config.json' };
const about = (line: string, env: Record<string, string> = {}): boolean =>
  isAbout(places, line.split(' '), env);

test.each([
  'status',
  'sources add /etc',
  'snapshots',
  'restore latest --target /srv/back',
  '-r nas snapshots',
  'restore latest -r /var/lib/holdfast/repository --in-place',
  'restore latest -- -r /srv/x',
])('is: holdfast %s', (line) => {
  expect(about(line)).toBe(true);
});

test.each([
  'service install --system',
  'partner start',
  'completion bash',
  '--version',
  'snapshots -r /srv/backups',
  'snapshots -r/srv/backups',
  'backup /etc --repository=s3://bucket/x',
  'snapshots -r .',
  'snapshots -r /var/lib/holdfast2/repository',
  'sources list --config /srv/own.json',
])('is not: holdfast %s', (line) => {
  expect(about(line)).toBe(false);
});

test('the environment counts like options', () => {
  expect(about('status', { HOLDFAST_STATE_DIR: '/srv/state' })).toBe(false);
  expect(about('status', { HOLDFAST_STATE_DIR: '/var/lib/holdfast' })).toBe(true);
  expect(about('status', { HOLDFAST_CONFIG: '/srv/config.json' })).toBe(false);
  expect(about('snapshots', { HOLDFAST_REPOSITORY: '/srv/backups' })).toBe(false);
  expect(about('snapshots -r nas', { HOLDFAST_REPOSITORY: '/srv/backups' })).toBe(true);
});

test('an option is found in whichever way it is written, the last one counts', () => {
  const names = ['-r', '--repository'] as const;
  expect(wordOf(['ls', '-r', 'a', '--repository=b'], names)).toBe('b');
  expect(wordOf(['ls', '-rb'], names)).toBe('b');
  expect(wordOf(['ls', '--', '-r', 'a'], names)).toBeUndefined();
  expect(wordOf(['ls', '-r'], names)).toBeUndefined();
});

test('what writes where root says has the powers for it, and nothing else has', () => {
  for (const line of [
    'restore /etc -y',
    'keys add --write-only /srv/key',
    'doctor --bundle /srv/b',
    'doctor --bundle=/srv/b',
  ])
    expect(powersFor(line.split(' ')), line).toContain('dac_override');
  for (const line of [
    'snapshots',
    'status',
    'backup',
    'prune',
    'doctor',
    'config set plan pro',
    'ls /',
    '-v jobs',
    'check',
  ])
    expect(powersFor(line.split(' ')), line).toEqual(['dac_read_search']);
});
