/** What the scripts of the Debian package tell systemd, in a view of the disks in which systemd seems to run. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const SCRIPTS = resolve(import.meta.dirname, '..', '..', 'service', 'deb');
const UNITS = '/etc/systemd/system';
const canMount =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'mount', '--bind', tmpdir(), UNITS]).status === 0;

describe.runIf(canMount)('the scripts of the Debian package', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-deb-'));
    const [bin, wants] = [join(directory, 'bin'), join(directory, 'units', 'multi-user.target.wants')];
    for (const made of [bin, wants]) mkdirSync(made, { recursive: true });
    for (const name of [
      'systemctl',
      'deb-systemd-invoke',
      'deb-systemd-helper',
      'adduser',
      'install',
      'chown',
    ])
      writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*"\n`, { mode: 0o755 });
    const unit = join(directory, 'units', 'holdfast-anna.service');
    writeFileSync(unit, 'ExecStart=/usr/lib/holdfast/bin/node start\n');
    symlinkSync(unit, join(wants, 'holdfast-anna.service'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** What it called, line by line. */
  function called(script: string, ...words: readonly string[]): readonly string[] {
    const view = `mount -t tmpfs none /run && mkdir -p /run/systemd/system && mount --bind "$0" ${UNITS} && exec "$@"`;
    const under = ['--mount', 'sh', '-c', view, join(directory, 'units')];
    const env = { PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}` };
    const done = spawnSync('unshare', [...under, 'sh', join(SCRIPTS, script), ...words], {
      encoding: 'utf8',
      env,
    });
    expect(done.stderr).toBe('');
    expect(done.status).toBe(0);
    return done.stdout.trimEnd().split('\n');
  }

  const STARTED = ['deb-systemd-invoke start holdfast.service', 'systemctl start holdfast-anna.service'];

  test.each(['upgrade', 'remove', 'deconfigure'])('stop and disable nothing for good before: %s', (why) => {
    expect(called('prerm', why)).toEqual([
      'deb-systemd-invoke stop holdfast.service',
      'systemctl stop holdfast-anna.service',
    ]);
  });

  test.each(['abort-upgrade', 'abort-remove', 'abort-deconfigure'])(
    'start again what was stopped, and do no more: %s',
    (why) => {
      expect(called('postinst', why, '0.0.1')).toEqual(['systemctl --system daemon-reload', ...STARTED]);
    },
  );

  test('disable the agent of a person once the program is gone', () => {
    expect(called('postrm', 'remove')).toContain('systemctl disable holdfast-anna.service');
    expect(called('postrm', 'upgrade').join('\n')).not.toContain('disable');
  });

  test('are correct for sh', () => {
    for (const name of ['postinst', 'prerm', 'postrm', '../package/launcher.sh'])
      expect(
        spawnSync('sh', ['-n', join(SCRIPTS, name)]).status,
        readFileSync(join(SCRIPTS, name), 'utf8'),
      ).toBe(0);
  });
});
