/** `holdfast service`, `doctor` and `completion`, as they are typed. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonLines, openPlace, type Place, type RunOptions } from '../support/cli.ts';

/** Programs of systemd that only write down how they are called. */
async function recordedSystem(place: Place): Promise<{ options: RunOptions; calls: () => Promise<string> }> {
  const bin = join(place.directory, 'bin');
  const record = join(place.directory, 'calls');
  await mkdir(bin);
  for (const name of ['systemctl', 'loginctl']) {
    await writeFile(join(bin, name), `#!/bin/sh\necho "${name} $*" >> ${record}\necho active\n`);
    await chmod(join(bin, name), 0o755);
  }
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    XDG_CONFIG_HOME: join(place.directory, 'config'),
    HOLDFAST_REPOSITORY: undefined,
  };
  return { options: { env }, calls: async () => await readFile(record, 'utf8').catch(() => '') };
}

describe.skipIf(process.platform !== 'linux')('holdfast service', () => {
  test('shows what it would do and does nothing', async () => {
    await using place = await openPlace();
    const { options, calls } = await recordedSystem(place);
    const { stdout } = await place.expectRun(['service', 'install', '--user', '--dry-run'], 0, options);
    expect(stdout).toContain('systemd/user/holdfast.service');
    expect(stdout).toContain('run systemctl --user restart holdfast.service');
    expect(await calls()).toBe('');
    await expect(stat(join(place.directory, 'config'))).rejects.toThrow('ENOENT');
  });

  test('installs, installs again without a change, and takes away what it made', async () => {
    await using place = await openPlace();
    const { options, calls } = await recordedSystem(place);
    const unit = join(place.directory, 'config', 'systemd', 'user', 'holdfast.service');
    await place.expectRun(['service', 'install', '--user', '--no-start'], 0, options);
    const text = await readFile(unit, 'utf8');
    expect(text).toContain(`Environment=HOLDFAST_STATE_DIR=${place.state}`);
    expect(await calls()).toBe('systemctl --user daemon-reload\n');

    const again = await place.expectRun(['service', 'install', '--user', '--no-start'], 0, options);
    expect(again.stdout).toContain('holdfast.service (nothing to do)');
    expect(await readFile(unit, 'utf8')).toBe(text);

    await mkdir(place.state);
    await place.expectRun(['service', 'uninstall', '--user'], 0, options);
    await expect(stat(unit)).rejects.toThrow('ENOENT');
    expect((await stat(place.state)).isDirectory()).toBe(true);
  });

  test('says so when the agent does not answer in time', async () => {
    await using place = await openPlace();
    const { options, calls } = await recordedSystem(place);
    const words = ['service', 'install', '--user', '--timeout', '0'];
    const { stderr } = await place.expectRun(words, 1, options);
    expect(stderr).toContain('does not answer');
    expect(await calls()).toContain('systemctl --user restart holdfast.service');
    const status = await place.expectRun(['service', 'status', '--user', '--json'], 1, options);
    expect(jsonLines(status)).toMatchObject([{ installed: true, active: 'active', running: false }]);
  });

  test('deletes the state only after a clear word', async () => {
    await using place = await openPlace();
    const { options } = await recordedSystem(place);
    await mkdir(place.state);
    const { stderr } = await place.expectRun(['service', 'uninstall', '--user', '--purge'], 2, options);
    expect(stderr).toContain(place.state);
    expect((await stat(place.state)).isDirectory()).toBe(true);
    await place.expectRun(['service', 'uninstall', '--user', '--purge', '--yes'], 0, options);
    await expect(stat(place.state)).rejects.toThrow('ENOENT');
  });

  test('does not let the service write to what is no directory', async () => {
    await using place = await openPlace();
    const { options } = await recordedSystem(place);
    const absent = join(place.directory, 'absent');
    const { stderr } = await place.expectRun(['service', 'allow-write', absent, '--dry-run'], 2, options);
    expect(stderr).toContain('is not a directory');
    const { stdout } = await place.expectRun(
      ['service', 'allow-write', place.source, '--dry-run'],
      0,
      options,
    );
    expect(stdout).toContain('holdfast.service.d/allow-write.conf');
  });
});

const embedded: RunOptions = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly { readonly check: string; readonly status: string; readonly message: string }[];
}

async function examine(place: Place, code: number): Promise<Report> {
  const outcome = await place.expectRun(['doctor', '--json'], code, embedded);
  return jsonLines(outcome)[0] as unknown as Report;
}

function statusOf({ findings }: Report, check: string): string | undefined {
  return findings.find((finding) => finding.check === check)?.status;
}

describe('holdfast doctor', () => {
  test('finds a machine without a first start healthy, and changes nothing', async () => {
    await using place = await openPlace();
    const report = await examine(place, 0);
    expect(statusOf(report, 'native modules')).toBe('ok');
    expect(statusOf(report, 'repository')).toBe('warning');
    await expect(stat(place.state)).rejects.toThrow('ENOENT');
  });

  test('opens the repository, and says when its key is gone without showing a secret', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'one' });
    await place.expectRun(['start', '--once', '--source', place.source], 0, embedded);
    expect(statusOf(await examine(place, 0), 'repository')).toBe('ok');

    const key = join(place.state, 'machine.key');
    const secret = (await readFile(key, 'utf8')).trim();
    await writeFile(key, `${'0'.repeat(64)}\n`);
    const { stdout, stderr } = await place.expectRun(['doctor'], 1, embedded);
    expect(stdout).toMatch(/ERROR +repository/);
    expect(`${stdout}${stderr}`).not.toContain(secret);
    expect(`${stdout}${stderr}`).not.toContain('0'.repeat(64));
  });

  test('names the place of a mistake in the configuration', async () => {
    await using place = await openPlace();
    await mkdir(place.state, { mode: 0o700 });
    await writeFile(join(place.state, 'config.json'), '{\n  "plan": "gold"\n}\n', { mode: 0o600 });
    const report = await examine(place, 1);
    const finding = report.findings.find(({ check }) => check === 'configuration');
    expect(finding?.status).toBe('error');
    expect(finding?.message).toContain('config.json:2:');
  });

  test('finds a port that another program has, and a state directory that others may change', async () => {
    await using place = await openPlace();
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      await mkdir(place.state, { mode: 0o700 });
      const config = JSON.stringify({ listen: { port } });
      await writeFile(join(place.state, 'config.json'), config, { mode: 0o600 });
      expect(statusOf(await examine(place, 1), 'port')).toBe('error');
      await chmod(place.state, 0o777);
      expect(statusOf(await examine(place, 1), 'state directory')).toBe('error');
    } finally {
      server.close();
    }
  });
});

describe('holdfast completion', () => {
  test('completes commands, their commands and options in bash', async () => {
    await using place = await openPlace();
    const { stdout } = await place.expectRun(['completion', 'bash']);
    const complete = (...words: readonly string[]): readonly string[] => {
      const script = `${stdout}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const done = spawnSync('bash', ['-c', script, 'bash', 'holdfast', ...words], { encoding: 'utf8' });
      return done.stdout.split('\n').filter((word) => word !== '');
    };
    expect(complete('do')).toEqual(['doctor']);
    expect(complete('service', 'un')).toEqual(['uninstall']);
    expect(complete('service', 'uninstall', '--pu')).toEqual(['--purge']);
    expect(complete('backup', '--js')).toEqual(['--json']);
    // The value of an option is a file more often than a command.
    expect(complete('doctor', '--config', '')).toEqual([]);
  });

  test.each(['zsh', 'fish'])('speaks of every command in %s', async (shell) => {
    await using place = await openPlace();
    const { stdout } = await place.expectRun(['completion', shell]);
    const help = await place.expectRun(['--help']);
    const names = [...help.stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(stdout).toContain(name);
    expect(stdout).toContain('--purge'.slice(2));
  });

  test('knows three shells', async () => {
    await using place = await openPlace();
    const { stderr } = await place.expectRun(['completion', 'tcsh'], 2);
    expect(stderr).toContain('bash, zsh or fish');
  });
});
