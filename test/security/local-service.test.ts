/** The service runs as a user of its own that may read everything and write next to nothing. Line L18. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fill } from '../../src/cli/install/template.ts';
import { executable } from '../support/cli.ts';

const service = path.join(import.meta.dirname, '..', '..', 'service', 'systemd');

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'holdfast-service-'));
  // Whoever is not its owner has to get to what is in it.
  chmodSync(directory, 0o755);
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** With everything filled in. */
function unit(name = 'holdfast.service'): string {
  const values = {
    ROOT: '/opt/holdfast',
    RUNTIME: '/opt/holdfast/node',
    PROGRAM: '/opt/holdfast/service/bin/holdfast.js',
    CONFIG: '/etc/holdfast/config.json',
    CONFIG_DIRECTORY: '/etc/holdfast',
    USER: 'anna',
    HOME: '/home/anna',
    STATE: '/home/anna/.local/state/holdfast',
  };
  const template = readFileSync(path.join(service, name), 'utf8');
  return fill(template, values, (text) => text);
}

/** Values of a setting in a unit. */
function valuesOf(text: string, name: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
}

describe('the unit of the service', () => {
  test('L18: has every setting of the checklist, and neither of the two that would break backups', () => {
    const text = unit();
    const wanted: Readonly<Record<string, string>> = {
      User: 'holdfast',
      AmbientCapabilities: 'CAP_DAC_READ_SEARCH',
      CapabilityBoundingSet: 'CAP_DAC_READ_SEARCH',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      PrivateDevices: 'yes',
      ProtectKernelTunables: 'yes',
      ProtectKernelModules: 'yes',
      ProtectKernelLogs: 'yes',
      RestrictAddressFamilies: 'AF_UNIX AF_INET AF_INET6',
      LockPersonality: 'yes',
      UMask: '0077',
      StateDirectory: 'holdfast',
      MemoryMax: '2G',
      LimitCORE: '0',
    };
    for (const [name, value] of Object.entries(wanted)) expect(valuesOf(text, name), name).toEqual([value]);
    expect(valuesOf(text, 'SystemCallFilter')).toContain('@system-service');
    expect(valuesOf(text, 'PrivateTmp')).toEqual([]);
    expect(valuesOf(text, 'MemoryDenyWriteExecute')).toEqual([]);
  });

  test('L18: for one person takes all that is taken from the other, and every capability', () => {
    const personal = unit('holdfast-user.service');
    const shared = unit()
      .split('\n')
      .filter((line) => /^(?:Protect|Restrict|Private|NoNew|Lock|SystemCall|Memory|Limit|UMask)/.test(line));
    expect(shared.length).toBeGreaterThan(18);
    expect(personal.split('\n')).toEqual(expect.arrayContaining(shared));
    expect(valuesOf(personal, 'User')).toEqual(['anna']);
    expect(valuesOf(personal, 'CapabilityBoundingSet')).toEqual(['']);
    expect(valuesOf(personal, 'AmbientCapabilities')).toEqual(['']);
    for (const breaking of ['PrivateTmp', 'PrivateUsers', 'MemoryDenyWriteExecute'])
      expect(valuesOf(personal, breaking), breaking).toEqual([]);
  });

  const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
  const units = readdirSync(service).filter((name) => name.endsWith('.service'));
  test.runIf(analyze).each(units)(
    'L18: %s is exposed no more than 2.5 by the reckoning of systemd',
    (name) => {
      const file = path.join(directory, name);
      writeFileSync(file, unit(name));
      const words = ['security', '--offline=true', '--no-pager', '--threshold=25', file];
      const { status, stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
      expect(status, `${stdout.slice(-500)}${stderr}`).toBe(0);
      const level = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1];
      expect(Number(level)).toBeLessThanOrEqual(2.5);
    },
  );
});

/** A user of no other rights than those of the service. */
const UID = 65_534;
const AS_SERVICE = [
  `--reuid=${UID}`,
  `--regid=${UID}`,
  '--clear-groups',
  '--no-new-privs',
  '--inh-caps=-all,+dac_read_search',
  '--ambient-caps=-all,+dac_read_search',
  '--bounding-set=-all,+dac_read_search',
  '--',
];
const can =
  process.getuid?.() === 0 && spawnSync('setpriv', [...AS_SERVICE, 'cat', '/etc/shadow']).status === 0;

describe.runIf(can)('with the rights of the service', () => {
  function asService(words: readonly string[]): { status: number | null; text: string } {
    const { status, stdout, stderr } = spawnSync(
      'setpriv',
      [...AS_SERVICE, process.execPath, executable, ...words],
      {
        cwd: '/',
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          HOME: directory,
          HOLDFAST_STATE_DIR: path.join(directory, 'state'),
          HOLDFAST_REPOSITORY: path.join(directory, 'repository'),
          HOLDFAST_PASSWORD: 'correct horse battery staple',
          HOLDFAST_TEST_KDF: '64,1,1',
          XDG_CACHE_HOME: path.join(directory, 'cache'),
        },
      },
    );
    return { status, text: stdout + stderr };
  }

  test('L18: a file of root with mode 600 is backed up, and cannot be written', () => {
    const source = path.join(directory, 'source');
    const secret = path.join(source, 'root-only');
    mkdirSync(secret, { recursive: true, mode: 0o700 });
    chmodSync(source, 0o755);
    writeFileSync(path.join(secret, 'file'), 'of root alone', { mode: 0o600 });
    for (const name of ['state', 'repository', 'cache', 'target']) {
      mkdirSync(path.join(directory, name), { mode: 0o700 });
      chownSync(path.join(directory, name), UID, UID);
    }
    const made = asService(['init']);
    expect(made.status, made.text).toBe(0);
    const saved = asService(['backup', source]);
    expect(saved.status, saved.text).toBe(0);
    const target = path.join(directory, 'target');
    const back = asService(['restore', 'latest', '--target', target]);
    expect([0, 3], back.text).toContain(back.status);
    const restored = path.join(target, secret, 'file');
    expect(readFileSync(restored, 'utf8')).toBe('of root alone');
    expect(statSync(restored).uid).toBe(UID);

    writeFileSync(path.join(secret, 'file'), 'changed since');
    const over = asService(['restore', 'latest', '--target', '/', '--overwrite', 'always']);
    expect(over.status).not.toBe(0);
    const into = asService(['restore', 'latest', '--target', secret]);
    expect(into.status).not.toBe(0);
    expect(readFileSync(path.join(secret, 'file'), 'utf8')).toBe('changed since');
    expect(statSync(path.join(secret, 'file')).uid).toBe(0);
  });
});
