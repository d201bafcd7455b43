/** `holdfast service`, `doctor` and `completion`, as they are typed. */
// Turn 3 of 8.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { executable, jsonLines, openPlace, type Place, type RunOptions } from '../support/cli.ts';

const UNITS = '/etc/systemd/system';
const UNIT = `${UNITS}/holdfast-anna.service`;
const isRoot = process.getuid?.() === 0;
/** Root says for whom; everybody else is meant by the command itself. */
const WHOM = isRoot ? ['--for', 'anna'] : ['--user'];

interface RecordedSystem {
  readonly options: RunOptions;
  /** What `systemctl` and `runuser` were called with. */
  readonly calls: () => Promise<string>;
  /** What stands in the place of /etc/systemd/system. */
  readonly units: string;
}

/** A system with the user anna, and programs of systemd that only write down how they are called. */
async function recordedSystem(place: Place): Promise<RecordedSystem> {
  const bin = join(place.directory, 'bin');
  const units = join(place.directory, 'units');
  const home = join(place.directory, 'home');
  const record = join(place.directory, 'calls');
  const programs = {
    systemctl: `echo "systemctl $*" >> ${record}\necho active`,
    runuser: `echo "runuser $*" >> ${record}\nshift 3\nexec "$@"`,
    getent: `[ "$2" = anna ] && echo anna:x:4242:4242::${home}:/bin/sh`,
  };
  for (const directory of [bin, units, home]) await mkdir(directory);
  for (const [name, script] of Object.entries(programs))
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOLDFAST_REPOSITORY: undefined };
  // Units are written in a view of the disks in which their directory is another one.
  const mount = 'mount --bind "$0" /etc/systemd/system && exec "$@"';
  const under = canMount ? ['unshare', '--mount', 'sh', '-c', mount, units] : [];
  return {
    options: { env, under },
    calls: async () => await readFile(record, 'utf8').catch(() => ''),
    units: join(units, 'holdfast-anna.service'),
  };
}

const canMount = isRoot && spawnSync('unshare', ['--mount', 'mount', '--bind', tmpdir(), UNITS]).status === 0;

describe.skipIf(process.platform !== 'linux')('holdfast service', () => {
  test('shows what it would do for one person, without root too, and does nothing', async () => {
    await using place = await openPlace();
    const { options, calls } = await recordedSystem(place);
    const { stdout } = await place.expectRun(['service', 'install', ...WHOM, '--dry-run'], 0, options);
    expect(stdout).toMatch(/write \/etc\/systemd\/system\/holdfast-\S+\.service/);
    expect(stdout).toMatch(/run systemctl restart \S*holdfast-\S+\.service/);
    expect(await calls()).toBe('');
    await expect(stat(place.state)).rejects.toThrow('ENOENT');
  });

  test('takes one person or the machine, not both', async () => {
    await using place = await openPlace();
    const words = ['service', 'status', '--system', '--for', 'anna'];
    expect((await place.expectRun(words, 2)).stderr).toContain('Use only one of them');
  });

  test('does not let the service write to what is no directory', async () => {
    await using place = await openPlace();
    const { options } = await recordedSystem(place);
    const allow = (directory: string) => ['service', 'allow-write', directory, '--system', '--dry-run'];
    const absent = join(place.directory, 'absent');
    expect((await place.expectRun(allow(absent), 2, options)).stderr).toContain('is not a directory');
    const { stdout } = await place.expectRun(allow(place.source), 0, options);
    expect(stdout).toContain('holdfast.service.d/allow-write.conf');
  });
});

describe.runIf(isRoot && process.platform === 'linux')('holdfast service, for whom', () => {
  test('whoever called sudo is meant', async () => {
    await using place = await openPlace();
    const { options } = await recordedSystem(place);
    const words = ['service', 'install', '--user', '--dry-run'];
    const sudo = { ...options, env: { ...options.env, SUDO_USER: 'anna' } };
    expect((await place.expectRun(words, 0, sudo)).stdout).toContain(`write ${UNIT}`);
    const root = { ...options, env: { ...options.env, SUDO_USER: undefined } };
    expect((await place.expectRun(words, 2, root)).stderr).toContain('--for NAME');
  });

  test('nobody is made up', async () => {
    await using place = await openPlace();
    const { options } = await recordedSystem(place);
    for (const name of ['bertha', '-i', '../x', '']) {
      const { stderr } = await place.expectRun(
        ['service', 'install', `--for=${name}`, '--dry-run'],
        2,
        options,
      );
      expect(stderr).toMatch(/There is no (?:user|service for root)|is empty/);
    }
  });

  test('a person without root is told the command with sudo, and may look', async () => {
    await using place = await openPlace();
    await chmod(place.directory, 0o755);
    const under = ['setpriv', '--reuid=nobody', '--regid=65534', '--clear-groups', '--'];
    const { stderr } = await place.expectRun(['service', 'install'], 2, { under });
    const state = `HOLDFAST_STATE_DIR=${place.state}`;
    expect(stderr).toContain(
      `Run: sudo env ${state} ${process.execPath} ${executable} service install --user`,
    );
    expect(stderr).toContain('docs/service.md');
    const status = await place.expectRun(['service', 'status', '--json'], 1, { under });
    expect(jsonLines(status)).toMatchObject([{ unit: `${UNITS}/holdfast-nobody.service`, installed: false }]);
    const other = await place.expectRun(['service', 'status', '--for', 'root'], 2, { under });
    expect(other.stderr).toContain('Only root can install a service for someone other than');
  });

  test('who may not look into the state directory is not told that an agent runs there', async () => {
    await using place = await openPlace();
    await chmod(place.directory, 0o755);
    await mkdir(place.state, { mode: 0o700 });
    const under = ['setpriv', '--reuid=nobody', '--regid=65534', '--clear-groups', '--'];
    const status = await place.expectRun(['service', 'status'], 1, { under });
    expect(status.stdout).toMatch(/^Not installed.*\n(?:Service .*\n)?Agent +this user has no access to it/);
    const asked = await place.expectRun(['status'], 1, { under });
    expect(asked.stderr).toContain('This user cannot see whether an agent is running');
  });
});

describe.runIf(canMount)('holdfast service for one person', () => {
  test('installs, installs again without a change, and takes away what it made', async () => {
    await using place = await openPlace();
    const { options, calls, units } = await recordedSystem(place);
    await place.expectRun(['service', 'install', ...WHOM, '--no-start'], 0, options);
    const text = await readFile(units, 'utf8');
    expect(text).toContain(`Environment=HOLDFAST_STATE_DIR=${place.state}`);
    const made = `runuser -u anna -- mkdir -p -m 0700 ${place.state}\nsystemctl daemon-reload\n`;
    expect(await calls()).toBe(made);
    expect((await stat(place.state)).mode & 0o777).toBe(0o700);

    const again = await place.expectRun(['service', 'install', ...WHOM, '--no-start'], 0, options);
    expect(again.stdout).toContain('holdfast-anna.service (nothing to do)');
    expect(await readFile(units, 'utf8')).toBe(text);

    await place.expectRun(['service', 'uninstall', ...WHOM], 0, options);
    await expect(stat(units)).rejects.toThrow('ENOENT');
    expect((await stat(place.state)).isDirectory()).toBe(true);
  });

  test('says so when the agent does not answer in time', async () => {
    await using place = await openPlace();
    const { options, calls } = await recordedSystem(place);
    const words = ['service', 'install', ...WHOM, '--timeout', '0'];
    const { stderr } = await place.expectRun(words, 1, options);
    expect(stderr).toContain('does not answer');
    expect(await calls()).toContain('systemctl restart holdfast-anna.service');
    const status = await place.expectRun(['service', 'status', ...WHOM, '--json'], 1, options);
    expect(jsonLines(status)).toMatchObject([{ installed: true, active: 'active', running: false }]);
  });

  test('deletes the state only after a clear word', async () => {
    await using place = await openPlace();
    const { options } = await recordedSystem(place);
    await place.expectRun(['service', 'install', ...WHOM, '--no-start'], 0, options);
    const { stderr } = await place.expectRun(['service', 'uninstall', ...WHOM, '--purge'], 2, options);
    expect(stderr).toContain(place.state);
    expect((await stat(place.state)).isDirectory()).toBe(true);
    await place.expectRun(['service', 'uninstall', ...WHOM, '--purge', '--yes'], 0, options);
    await expect(stat(place.state)).rejects.toThrow('ENOENT');
  });

  test('deletes the state that the unit names, and no other', async () => {
    await using place = await openPlace();
    const { options, units } = await recordedSystem(place);
    await place.expectRun(['service', 'install', ...WHOM, '--no-start'], 0, options);
    const other = join(place.directory, 'other');
    await mkdir(other);
    const purge = ['service', 'uninstall', ...WHOM, '--purge', '--yes'];
    const elsewhere = { ...options, env: { ...options.env, HOLDFAST_STATE_DIR: other } };
    const { stderr } = await place.expectRun(purge, 1, elsewhere);
    expect(stderr).toContain(`keeps its state in ${place.state}, but HOLDFAST_STATE_DIR is ${other}`);
    expect(stderr).toContain(`HOLDFAST_STATE_DIR=${place.state}`);
    for (const kept of [units, other, place.state]) await stat(kept);

    const plain = { ...options, env: { ...options.env, HOLDFAST_STATE_DIR: undefined } };
    await place.expectRun(purge, 0, plain);
    await expect(stat(place.state)).rejects.toThrow('ENOENT');
    const again = await place.expectRun(purge, 1, elsewhere);
    expect(again.stderr).toContain('It is unknown where');
    await stat(other);
  });

  test('for the machine knows the one that a package brought', async () => {
    await using place = await openPlace();
    const { options } = await recordedSystem(place);
    const packaged = join(place.directory, 'packaged');
    await mkdir(packaged);
    await writeFile(join(packaged, 'holdfast.service'), '');
    const mount = `mount --bind ${packaged} /lib/systemd/system && exec "$@"`;
    const brought = { ...options, under: ['unshare', '--mount', 'sh', '-c', mount, 'sh'] };
    const status = await place.run(['service', 'status', '--system', '--json'], brought);
    expect(jsonLines(status)).toMatchObject([
      { installed: true, unit: '/lib/systemd/system/holdfast.service', active: 'active' },
    ]);
    const { stderr } = await place.expectRun(['service', 'install', '--system'], 1, brought);
    expect(stderr).toContain('came with a package');
  });

  test('for the machine is named where no agent of this user runs', async () => {
    await using place = await openPlace();
    const { options, units } = await recordedSystem(place);
    expect((await place.expectRun(['status'], 1, options)).stdout).toContain('Not protected');
    await writeFile(join(dirname(units), 'holdfast.service'), '');
    const asked = 'sudo -u holdfast env HOLDFAST_STATE_DIR=/var/lib/holdfast';
    const { stdout } = await place.expectRun(['status'], 1, options);
    expect(stdout).not.toContain('Not protected');
    expect(stdout).toContain(asked);
    expect((await place.expectRun(['logs'], 1, options)).stderr).toContain(asked);
    expect((await place.run(['doctor'], options)).stdout).toContain(asked);
    const own = { ...options, env: { ...options.env, HOLDFAST_STATE_DIR: '/var/lib/holdfast' } };
    expect((await place.expectRun(['status'], 1, own)).stdout).toContain('Not protected');
  });

  test('is let write to another directory once it is installed', async () => {
    await using place = await openPlace();
    const { options, calls, units } = await recordedSystem(place);
    const allow = ['service', 'allow-write', place.source, ...WHOM];
    expect((await place.expectRun(allow, 2, options)).stderr).toContain('no service for anna');
    await place.expectRun(['service', 'install', ...WHOM, '--no-start'], 0, options);
    await place.expectRun(allow, 0, options);
    const file = await readFile(join(`${units}.d`, 'allow-write.conf'), 'utf8');
    expect(file).toContain(`ReadWritePaths="-${place.source}"`);
    expect(await calls()).toContain('systemctl try-restart holdfast-anna.service');
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
    expect(statusOf(report, 'key drill')).toBe('ok');
    await expect(stat(place.state)).rejects.toThrow('ENOENT');
  });

  test('opens the repository, and says when its key is gone without showing a secret', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'one' });
    await place.expectRun(['start', '--once', '--source', place.source], 0, embedded);
    const report = await examine(place, 0);
    expect(statusOf(report, 'repository')).toBe('ok');
    expect(statusOf(report, 'key drill')).toBe('warning');
    const kit = await readFile(join(place.state, 'recovery-kit.txt'), 'utf8');
    const paper = join(place.directory, 'paper');
    await writeFile(paper, /Recovery code +(\S+)/.exec(kit)?.[1] ?? '');
    await place.expectRun(['keys', 'drill', '--password-file', paper], 0, embedded);
    const drilled = (await examine(place, 0)).findings.find(({ check }) => check === 'key drill');
    expect(drilled?.status).toBe('ok');
    expect(drilled?.message).toContain(new Date().getFullYear().toString());

    const key = join(place.state, 'machine.key');
    const secret = (await readFile(key, 'utf8')).trim();
    await writeFile(key, `${'0'.repeat(64)}\n`);
    const { stdout, stderr } = await place.expectRun(['doctor'], 1, embedded);
    expect(stdout).toMatch(/ERROR +repository/);
    expect(`${stdout}${stderr}`).not.toContain(secret);
    expect(`${stdout}${stderr}`).not.toContain('0'.repeat(64));
  });

  test('writes a bundle for support, readable by its owner alone, and never over another file', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'one' });
    await place.expectRun(['start', '--once', '--source', place.source], 0, embedded);
    const key = (await readFile(join(place.state, 'machine.key'), 'utf8')).trim();
    const file = join(place.directory, 'bundle.txt');
    const { stdout } = await place.expectRun(['doctor', '--bundle', file], 0, embedded);
    expect(stdout).toContain(`Read through ${file} before you send it`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, 'utf8');
    expect(text.split('\n')[0]).toMatch(/^Paths and names of your files/);
    for (const part of ['Made by holdfast doctor', 'native modules: ', 'repository: ', 'No agent runs.'])
      expect(text).toContain(part);
    expect(text).not.toContain(key);
    const refused = await place.run(['doctor', '--bundle', file], embedded);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('exists already')]);
    expect(await readFile(file, 'utf8')).toBe(text);
    const lost = await place.run(['doctor', '--bundle', join(place.directory, 'no', 'where.txt')], embedded);
    expect(lost.stderr).toContain('cannot be written');
  });

  test.runIf(canMount)(
    'says what to do about a state directory that is read-only, as start does',
    async () => {
      await using place = await openPlace();
      await mkdir(place.state, { mode: 0o700 });
      await writeFile(join(place.state, 'config.json'), '{}\n', { mode: 0o600 });
      const mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
      const closed = { ...embedded, under: ['unshare', '--mount', 'sh', '-c', mount, place.state] };
      const advice = 'Make it writable, or set HOLDFAST_STATE_DIR to another directory';
      const { stderr } = await place.expectRun(['start', '--port', '0'], 1, closed);
      expect(stderr).toContain(`The state directory ${place.state} cannot be used`);
      expect(stderr).toContain(advice);
      expect((await place.expectRun(['doctor'], 1, closed)).stdout).toContain(advice);
    },
  );

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

  test.each(['zsh', 'fish', 'powershell'])('speaks of every command in %s', async (shell) => {
    await using place = await openPlace();
    const { stdout } = await place.expectRun(['completion', shell]);
    const help = await place.expectRun(['--help']);
    const names = [...help.stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(stdout).toContain(name);
    expect(stdout).toContain('--purge'.slice(2));
  });

  test('ends no text too early in PowerShell', async () => {
    await using place = await openPlace();
    const { stdout } = await place.expectRun(['completion', 'powershell']);
    // Every quote of a text, straight or not, is doubled; what is left is code, which has no words of people.
    const code = stdout.replaceAll(/'(?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*'/g, '');
    expect(code).not.toMatch(/['\u2018-\u201b]/);
    expect(code).not.toMatch(/--\w/);
    expect(stdout).toMatch(/^ {4}'service uninstall' = @\(.*'--purge\|/m);
    for (const [open, close] of ['()', '{}', '[]'])
      expect(code.split(open ?? '').length).toBe(code.split(close ?? '').length);
  });

  test('knows four shells', async () => {
    await using place = await openPlace();
    const { stderr } = await place.expectRun(['completion', 'tcsh'], 2);
    expect(stderr).toContain('bash, zsh, fish or powershell');
  });
});
