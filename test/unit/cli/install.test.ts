import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  allowWriteText,
  installSteps,
  layoutOf,
  uninstallSteps,
  type Scope,
} from '../../../src/cli/install/plan.ts';
import type { Person } from '../../../src/cli/install/person.ts';
import { shownStep } from '../../../src/cli/install/step.ts';
import { fill, unitValue, unitWord, xmlText } from '../../../src/cli/install/template.ts';
import { plannedPoints, writablePlace } from '../../../src/cli/install/writable-place.ts';

const env = { HOLDFAST_STATE_DIR: '/tmp/100% "state"' };
const fixed = { runtime: '/opt/node', known: false, stamp: '' };
const anna: Person = { name: 'anna', uid: 4242, home: '/home/100% "anna"' };

async function shownSteps(scope: Scope, platform: NodeJS.Platform, start = true): Promise<readonly string[]> {
  const layout = layoutOf(scope, env, platform, anna);
  return (await installSteps(layout, { ...fixed, start })).map(shownStep);
}

async function written(scope: Scope, platform: NodeJS.Platform, ending: string): Promise<string> {
  const layout = layoutOf(scope, env, platform, anna);
  const steps = await installSteps(layout, { ...fixed, start: true });
  const found = steps.find((step) => step.kind === 'write' && step.path.endsWith(ending));
  if (found?.kind !== 'write') throw new Error(`nothing writes ${ending}`);
  return found.content;
}

describe('the steps of an installation', () => {
  test('make the user before what belongs to it, and start at last', async () => {
    expect(await shownSteps('system', 'linux')).toEqual([
      'write /etc/sysusers.d/holdfast.conf',
      'run systemd-sysusers /etc/sysusers.d/holdfast.conf',
      'run install -d -o holdfast -g holdfast -m 0755 /etc/holdfast',
      `run runuser -u holdfast -- sh -c 'umask 077; set -C; test -e "$1" || echo {} >"$1"' sh /etc/holdfast/config.json`,
      'write /etc/systemd/system/holdfast.service',
      'run systemctl daemon-reload',
      'run systemctl enable holdfast.service',
      'run systemctl restart holdfast.service',
    ]);
  });

  test('for one person make the state as that person, and the unit for the manager of the machine', async () => {
    expect(await shownSteps('user', 'linux')).toEqual([
      `run runuser -u anna -- mkdir -p -m 0700 '/tmp/100% "state"'`,
      'write /etc/systemd/system/holdfast-anna.service',
      'run systemctl daemon-reload',
      'run systemctl enable holdfast-anna.service',
      'run systemctl restart holdfast-anna.service',
    ]);
  });

  test('touch nothing as root in what is the service’s: a link in there would lead it anywhere', async () => {
    const inside = (await shownSteps('system', 'linux')).filter((step) =>
      /\/etc\/holdfast\/|\/var\/lib\/holdfast/.test(step),
    );
    expect(inside.length).toBeGreaterThan(0);
    expect(inside.filter((step) => !step.startsWith('run runuser -u holdfast -- '))).toEqual([]);
  });

  test('start nothing when that was said', async () => {
    expect((await shownSteps('user', 'linux', false)).slice(1)).toEqual([
      'write /etc/systemd/system/holdfast-anna.service',
      'run systemctl daemon-reload',
    ]);
  });

  test('leave no gap in any template', async () => {
    const texts = [
      await written('system', 'linux', '.service'),
      await written('user', 'linux', '.service'),
      await written('system', 'darwin', '.plist'),
      await written('user', 'darwin', '.plist'),
    ];
    for (const text of texts) {
      expect(text).not.toMatch(/\{\{|Template/);
      expect(text).toContain('/opt/node');
    }
  });

  test.each([
    ['system', 'holdfast'],
    ['user', '%N'],
  ] as const)(
    'let the service of the %s make temporary files where it may write',
    async (scope, directory) => {
      const lines = (await written(scope, 'linux', '.service')).split('\n');
      expect(lines).toContain('ProtectSystem=strict');
      expect(lines).toContain(`CacheDirectory=${directory}`);
      expect(lines).toContain(`Environment=TMPDIR=%C/${directory}`);
    },
  );

  test('let the agent of one person write to the home and the state', async () => {
    const lines = (await written('user', 'linux', '.service')).split('\n');
    expect(lines.filter((line) => line.startsWith('ReadWritePaths='))).toEqual([
      String.raw`ReadWritePaths="/home/100%% \"anna\""`,
      String.raw`ReadWritePaths=-"/tmp/100%% \"state\""`,
    ]);
    expect(lines).toContain('User=anna');
  });

  test('do not exist for a system that is not known', () => {
    expect(() => layoutOf('system', env, 'aix')).toThrow('not available on');
    expect(() => layoutOf('user', env, 'win32')).toThrow('not available on');
  });
});

describe('values in templates', () => {
  test('mean themselves in a unit', async () => {
    expect(await written('user', 'linux', '.service')).toContain(
      String.raw`Environment=HOLDFAST_STATE_DIR="/tmp/100%% \"state\""`,
    );
    expect(unitWord('/a $b')).toBe('"/a $$b"');
    expect(unitValue('/a$b')).toBe('/a$b');
  });

  test('mean themselves in XML', async () => {
    expect(xmlText(`<a b="&">`)).toBe('&lt;a b=&quot;&amp;&quot;&gt;');
    expect(await written('user', 'darwin', '.plist')).toContain('100% &quot;state&quot;');
  });

  test('must all be there', () => {
    expect(() => fill('{{NAME}}', {}, (value) => value)).toThrow('NAME');
  });
});

describe('the steps of taking it away', () => {
  test('keep settings and backups', () => {
    const steps = uninstallSteps(layoutOf('system', env, 'linux'), { purge: false, known: false }).map(
      shownStep,
    );
    expect(steps).toContain('remove /etc/systemd/system/holdfast.service');
    expect(steps.filter((step) => /\/var\/lib|\/etc\/holdfast(?: |$)/.test(step))).toEqual([]);
  });

  test('delete both when asked to, at last', () => {
    const steps = uninstallSteps(layoutOf('system', env, 'linux'), { purge: true, known: false }).map(
      shownStep,
    );
    expect(steps.slice(-2)).toEqual(['run rm -rf -- /var/lib/holdfast', 'run rm -rf -- /etc/holdfast']);
  });
});

describe('the steps of taking the service of one person away', () => {
  const layout = layoutOf('user', env, 'linux', anna);

  test('keep settings and backups', () => {
    expect(uninstallSteps(layout, { purge: false, known: false }).map(shownStep)).toEqual([
      'run systemctl disable --now holdfast-anna.service',
      'run systemctl clean --what=cache holdfast-anna.service',
      'remove /etc/systemd/system/holdfast-anna.service',
      'remove /etc/systemd/system/holdfast-anna.service.d/allow-write.conf',
      'run systemctl daemon-reload',
    ]);
  });

  test('delete them as that person when asked to: a link in the home leads root nowhere', () => {
    expect(uninstallSteps(layout, { purge: true, known: false }).map(shownStep).at(-1)).toBe(
      `run runuser -u anna -- rm -rf -- '/tmp/100% "state"'`,
    );
  });
});

const itself = (directory: string): string => directory;

describe('the place that a unit names for a directory', () => {
  const at = (directory: string, ...points: readonly string[]): string =>
    writablePlace(directory, { points, missing: () => undefined });

  test('is where the disk is mounted, so that it can be unmounted', () => {
    expect(at('/mnt/b/holdfast', '/', '/mnt/b')).toBe('/mnt/b');
    expect(at('/mnt/b/inner/deep', '/', '/mnt/b', '/mnt/b/inner')).toBe('/mnt/b/inner');
    expect(at('/mnt/b', '/', '/mnt/b')).toBe('/mnt/b');
    expect(at('/srv/data/holdfast', '/', '/srv')).toBe('/srv');
  });

  test('is the directory itself on disks that stay, which hold what is of others', () => {
    expect(at('/srv/holdfast', '/')).toBe('/srv/holdfast');
    expect(at('/home/backup/holdfast', '/', '/home')).toBe('/home/backup/holdfast');
    expect(at('/var/backups/holdfast', '/', '/var')).toBe('/var/backups/holdfast');
    expect(at('/mnt/bigger', '/', '/mnt/big')).toBe('/mnt/bigger');
  });

  test('is where a disk will be mounted that is away today', () => {
    const points = { points: ['/'], missing: () => '/mnt/b' };
    expect(writablePlace('/mnt/b/holdfast', points)).toBe('/mnt/b');
    const table =
      '# /dev/sdx /not ext4\n/dev/sdb1  /backup/disk\\0401/  xfs noauto 0 0\nUUID=1 none swap sw 0 0\n';
    expect(plannedPoints(table)).toEqual(['/backup/disk 1']);
    expect(at('/backup/disk 1/holdfast', '/', ...plannedPoints(table))).toBe('/backup/disk 1');
  });
});

describe('directories that the service may write to', () => {
  test('are added once each', () => {
    const first = allowWriteText('', '/mnt/one', itself);
    const second = allowWriteText(first, '/mnt/100% "two"', itself);
    expect(second.split('\n').slice(1)).toEqual([
      '[Service]',
      'ReadWritePaths="-/mnt/one"',
      String.raw`ReadWritePaths="-/mnt/100%% \"two\""`,
      '',
    ]);
    expect(allowWriteText(second, '/mnt/one', itself)).toBe(second);
  });

  test('need not be there when the agent starts, also those that were allowed before', () => {
    const before = '# Mine\n[Service]\nReadWritePaths="/mnt/one"\n';
    const one = '# Mine\n[Service]\nReadWritePaths="-/mnt/one"\n';
    expect(allowWriteText(before, '/mnt/one', itself)).toBe(one);
    expect(allowWriteText(before, '/mnt/two', itself)).toBe(`${one}ReadWritePaths="-/mnt/two"\n`);
  });

  test('are named by where their disk is mounted, also those that were allowed before', () => {
    const before = String.raw`[Service]
ReadWritePaths="-/mnt/100%% \"two\"/holdfast"
ReadWritePaths="/mnt/b/other"
ReadWritePaths=/by/hand
`;
    const points = { points: ['/', '/mnt/b', '/mnt/100% "two"'], missing: () => undefined };
    const placeOf = (directory: string): string => writablePlace(directory, points);
    expect(allowWriteText(before, '/mnt/b/holdfast', placeOf)).toBe(String.raw`[Service]
ReadWritePaths="-/mnt/100%% \"two\""
ReadWritePaths="-/mnt/b"
ReadWritePaths=/by/hand
`);
  });
});

test.each(['system', 'user'] as const)('the unit for the %s is started again for ever', async (scope) => {
  // By default systemd gives up a unit that fails several times in a row, and nobody would know.
  expect(await written(scope, 'linux', '.service')).toContain('\nStartLimitIntervalSec=0\n');
});

const canAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.skipIf(!canAnalyze)('systemd', () => {
  test.each(['system', 'user'] as const)('understands the unit for the %s', async (scope) => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-unit-'));
    try {
      const person = { name: 'anna', uid: 4242, home: '/home/a b' };
      const layout = layoutOf(scope, { HOLDFAST_STATE_DIR: '/tmp/a b' }, 'linux', person);
      const steps = await installSteps(layout, { ...fixed, start: false, runtime: process.execPath });
      const unit = steps.find((step) => step.kind === 'write' && step.path.endsWith('.service'));
      const file = join(directory, 'holdfast.service');
      writeFileSync(file, unit?.kind === 'write' ? unit.content : '');
      const verify = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
      expect(verify.stderr).toBe('');
      expect(verify.status).toBe(0);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

const canParse = spawnSync('python3', ['-c', 'import plistlib']).status === 0;

/** What a parser of another make finds in a file. */
function parsed(script: string, text: string): unknown {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script], { input: text, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

const PROPERTY_LIST =
  'import sys, json, plistlib; print(json.dumps(plistlib.loads(sys.stdin.buffer.read(), fmt=plistlib.FMT_XML)))';
describe.skipIf(!canParse)('the files for other systems, read by a parser', () => {
  test.each(['system', 'user'] as const)(
    'the property list for the %s holds what was put in',
    async (scope) => {
      const list = parsed(PROPERTY_LIST, await written(scope, 'darwin', '.plist'));
      const state = scope === 'user' ? env.HOLDFAST_STATE_DIR : '/Library/Application Support/Holdfast';
      expect(list).toMatchObject({
        Label: 'org.example.holdfast',
        ProgramArguments: ['/opt/node', expect.stringMatching(/holdfast\.js$/), 'start', '--quiet'],
        EnvironmentVariables: { HOLDFAST_STATE_DIR: state },
        RunAtLoad: true,
        KeepAlive: { SuccessfulExit: false },
        Umask: 0o077,
      });
    },
  );
});

/** What plutil -lint asks of a property list. */
describe('the property list', () => {
  test.each(['system', 'user'] as const)('for the %s has nothing that plutil refuses', async (scope) => {
    const text = await written(scope, 'darwin', '.plist');
    expect(text).toMatch(
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<!DOCTYPE plist PUBLIC "-\/\/Apple\/\/DTD PLIST 1\.0\/\/EN" "http:\/\/www\.apple\.com\/DTDs\/PropertyList-1\.0\.dtd">\n<plist version="1\.0">\n/,
    );
    const body = text.slice(text.indexOf('<plist')).replaceAll(/<!--(?:(?!--)[^])*-->/g, '');
    const tags = [...body.matchAll(/<(\/?)([a-z]+)([^>]*?)(\/?)>([^<]*)/g)];
    const open: { readonly name: string; keys: number; values: number }[] = [];
    for (const [whole, closing = '', name = '', attributes = '', empty = '', content = ''] of tags) {
      expect(['plist', 'dict', 'array', 'key', 'string', 'integer', 'true', 'false']).toContain(name);
      expect(attributes).toBe(name === 'plist' && closing === '' ? ' version="1.0"' : '');
      if (closing === '/') {
        const last = open.pop();
        expect(last?.name, whole).toBe(name);
        if (name === 'dict') expect(last?.values).toBe(last?.keys);
        continue;
      }
      const around = open.at(-1);
      if (around?.name === 'dict') {
        // A key comes before each value.
        expect(name === 'key' ? around.keys : around.keys - 1, whole).toBe(around.values);
        if (name === 'key') around.keys += 1;
        else around.values += 1;
      }
      if (name === 'integer') expect(content).toMatch(/^\d+$/);
      if (!['key', 'string', 'integer'].includes(name)) expect(content.trim()).toBe('');
      expect(content).not.toMatch(/&(?!(?:amp|lt|gt|quot|apos);)/);
      if (empty === '') open.push({ name, keys: 0, values: 0 });
    }
    expect(open).toEqual([]);
  });
});
