// Turn 1 of 8.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandPages } from '../../../service/manual/command-pages.ts';
import { bold, plain } from '../../../service/manual/roff.ts';
import { settingsPage } from '../../../service/manual/settings-page.ts';
import { installerText } from '../../../service/msi/installer-text.ts';
import { isWanted } from '../../../service/package/package-files.ts';
import { PLATFORMS, PLATFORM_NAMES, platformNamed } from '../../../service/package/platforms.ts';
import { Stage } from '../../../service/package/stage.ts';
import { fillManifests } from '../../../service/release/manifests.ts';
import { toolPackages } from '../../../service/release/tools.ts';
import { TOPICS } from '../../../src/cli/commands.ts';
import { namesBelow } from '../../support/names-below.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const edition = { version: '1.2.3', date: '2026-01-31' };

describe('what is packed', () => {
  test.each([
    ['prebuilds/linux-x64.node', ['linux-x64']],
    ['prebuilds/linuxmusl-x64.node', []],
    ['prebuilds/darwin-arm64.node', ['macos-arm64']],
    ['prebuilds/win32-x64.node', ['windows-x64']],
    ['linux_arm64/koffi.node', ['linux-arm64']],
    ['build/Release/watcher.node', PLATFORM_NAMES],
    ['lib/index.js', PLATFORM_NAMES],
    ['LICENSE.md', PLATFORM_NAMES],
    ['README.md', []],
    ['lib/index.d.ts', []],
    ['test/index.js', []],
    ['fixture/a.txt', []],
  ])('%s is for %j', (name, expected) => {
    expect(PLATFORM_NAMES.filter((one) => isWanted(name, PLATFORMS[one]))).toEqual(expected);
  });

  test('names an unknown platform as such', () => {
    expect(() => platformNamed('amiga')).toThrow('no platform amiga');
  });

  test('names a runtime for each platform that package.json has', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const { runtime } of Object.values(PLATFORMS))
      expect(Object.keys(optionalDependencies)).toContain(runtime);
  });
});

test('modes and times of what is laid out are those of the release', () => {
  using stage = new Stage();
  stage.put('a/text', 'x');
  stage.putProgram('a/program', 'y');
  stage.settle();
  expect(stage.names()).toEqual(['a', 'a/program', 'a/text']);
  const [text, program] = ['a/text', 'a/program'].map((name) => statSync(stage.at(name)));
  expect([text, program].map((stats) => (stats?.mode ?? 0) & 0o777)).toEqual([0o644, 0o755]);
  expect(text?.mtimeMs).toBe(program?.mtimeMs);
});

describe('manual pages', () => {
  test('hide what roff would take for its own', () => {
    expect(plain(String.raw`.so it's a\b--c`)).toBe(String.raw`\&.so it\(aqs a\eb\-\-c`);
    expect(bold('a')).toBe(String.raw`\fBa\fR`);
  });

  test('are there for each command, with all of its options', async () => {
    const pages = await commandPages(edition);
    for (const { name, aliases = [] } of TOPICS.flatMap(({ commands }) => commands))
      for (const one of [name, ...aliases]) expect(Object.keys(pages)).toContain(`holdfast-${one}.1`);
    expect(pages['holdfast.1']).toContain('holdfast\\-restore');
    expect(pages['holdfast-backup.1']).toContain(String.raw`\-\-exclude <pattern>`);
    expect(pages['holdfast-backup.1']).toContain('.SH EXAMPLES');
    expect(pages['holdfast-service.1']).toContain('sudo holdfast service install');
    expect(Object.values(pages).join('')).not.toContain(plain(root));
    expect(pages['holdfast-sources.1']).toContain('.SH HOLDFAST SOURCES ADD');
    expect(pages['holdfast-check.1']).toContain(
      '.PP\nWithout options, everything except the data itself is verified. ',
    );
    expect(pages['holdfast-check.1']).not.toContain('.br');
  });

  test('explain each setting', async () => {
    const page = await settingsPage(edition);
    for (const name of ['listen.port', 'sources[].exclude.patterns', 'destinations.NAME.url', 'updates.url'])
      expect(page).toContain(bold(name));
  });
});

test('the installer for Windows has each file once, and the same identifiers each time', () => {
  using stage = new Stage();
  for (const name of ['Holdfast/holdfast.cmd', 'Holdfast/dist/main.js', 'Holdfast/dist/a & b.js'])
    stage.put(name, '');
  const names = stage.names().filter((name) => name.startsWith('Holdfast/'));
  const text = installerText(stage, names, '1.2.3');
  expect(text.match(/<File /g)).toHaveLength(3);
  expect(text).toContain('Name="a &amp; b.js"');
  expect(installerText(stage, names, '1.2.3')).toBe(text);
  const components = [...text.matchAll(/<Component Id="(\w+)"/g)].map(([, id = '']) => id);
  expect([...text.matchAll(/<ComponentRef Id="(\w+)"/g)].map(([, id = '']) => id).sort()).toEqual(
    components.sort(),
  );
});

test('manifests have the checksum of each archive', () => {
  const output = mkdtempSync(join(tmpdir(), 'holdfast-manifests-'));
  try {
    const sums = new Map([
      ...PLATFORM_NAMES.map(
        (name) =>
          [`holdfast-1.2.3-${name}.${name === 'windows-x64' ? 'zip' : 'tar.gz'}`, `sum of ${name}`] as const,
      ),
      ['holdfast-1.2.3-windows-x64.msi', 'sum of the installer'],
    ]);
    fillManifests(output, '1.2.3', sums);
    const text = namesBelow(output)
      .filter((name) => /\.(?:rb|yaml)$/.test(name))
      .map((name) => readFileSync(join(output, name), 'utf8'))
      .join('');
    for (const sum of [...sums.values()].filter((one) => one !== 'sum of windows-x64'))
      expect(text).toContain(sum);
    expect(text).not.toContain('{{');
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
});

test('a release asks for what its kinds are made with, and the document names all of it', () => {
  const kinds = ['npm', 'archive', 'deb', 'rpm', 'msi', 'manifests'];
  const document = readFileSync(join(root, 'docs', 'install.md'), 'utf8');
  // Every Debian has dpkg.
  for (const name of toolPackages(kinds).filter((one) => one !== 'dpkg'))
    expect(document).toContain(`\`${name}\``);
  expect(toolPackages(kinds, (program) => program === 'msibuild')).toEqual(['msitools']);
  expect(toolPackages(['npm', 'manifests'])).toEqual([]);
});
