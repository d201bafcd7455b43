/**
 * Makes the RPM package, with rpmbuild (on Debian: of the package `rpm`):
 *   node service/rpm/build.ts [--output DIR] [--platform linux-arm64] [--compression xz|gzip] [--version V]
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fill } from '../../src/cli/install/template.ts';
import { licenseText } from '../package/documents.ts';
import { HOMEPAGE, MAINTAINER, releaseTime } from '../package/facts.ts';
import { DOCUMENTS, HOME, linuxOptions, stageLinux } from '../package/linux-tree.ts';
import { PLATFORMS, RPM_ARCHITECTURE } from '../package/platforms.ts';
import { Stage } from '../package/stage.ts';

const { output, platform, compression, version } = linuxOptions();
const architecture = RPM_ARCHITECTURE[PLATFORMS[platform].cpu];

/** Directories of the system, which are no part of the package. */
const NOT_OURS =
  /^\/usr(?:\/(?:bin|lib|share)?)?$|^\/usr\/lib\/(?:systemd|sysusers\.d)(?:\/|$)|^\/usr\/share\/(?!holdfast|doc\/holdfast|licenses\/holdfast|fish|zsh)/;

using stage = new Stage();
await stageLinux(stage, {
  platform,
  version,
  zsh: 'zsh/site-functions',
});
stage.put('/usr/share/licenses/holdfast/LICENSE', licenseText());
stage.settle();
const scratch = mkdtempSync(path.join(tmpdir(), 'holdfast-rpm-'));
try {
  process.stdout.write(`${pack()}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function own(name: string): string {
  return readFileSync(path.join(import.meta.dirname, name), 'utf8');
}

/** Every file, and every directory that is only there because of it. */
function files(): string {
  return stage
    .names()
    .map((name) => [`/${name}`, lstatSync(stage.at(name)).isDirectory()] as const)
    .filter(([name, isDirectory]) => !isDirectory || !NOT_OURS.test(name))
    .map(([name, isDirectory]) => `${isDirectory ? '%dir ' : kindOf(name)}"${name}"`)
    .join('\n');
}

function kindOf(name: string): string {
  if (name.startsWith(`${DOCUMENTS}/`)) return '%doc ';
  if (name.startsWith('/usr/share/licenses/') || name === `${HOME}/bin/LICENSE`) return '%license ';
  return '';
}

function spec(): string {
  const [day, date, month, year] = new Date(releaseTime() * 1000).toUTCString().split(/,? /);
  const facts = {
    VERSION: version,
    HOMEPAGE,
    MAINTAINER,
    PAYLOAD: compression === 'xz' ? 'w6.xzdio' : 'w6.gzdio',
    STAGE: stage.directory,
    PRE: own('pre.sh'),
    POST: own('post.sh'),
    PREUN: own('preun.sh'),
    POSTUN: own('postun.sh'),
    FILES: files(),
    DATE: [day, month, date, year].join(' '),
  };
  return fill(own('holdfast.spec'), facts, (text) => text);
}

function pack(): string {
  const file = path.join(scratch, 'holdfast.spec');
  writeFileSync(file, spec());
  const words = ['-bb', '--quiet', '--target', `${architecture}-linux`, '--define', `_topdir ${scratch}`];
  execFileSync('rpmbuild', [...words, '--define', '_binaries_in_noarch_packages_terminate_build 0', file], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, SOURCE_DATE_EPOCH: String(releaseTime()) },
  });
  const name = `holdfast-${version}-1.${architecture}.rpm`;
  mkdirSync(output, { recursive: true });
  copyFileSync(path.join(scratch, 'RPMS', architecture, name), path.join(output, name));
  return path.join(output, name);
}
