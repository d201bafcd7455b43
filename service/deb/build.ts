/**
 * Makes the Debian package:
 *   node service/deb/build.ts [--output DIR] [--platform linux-arm64] [--compression xz|gzip] [--version V]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { fill } from '../../src/cli/install/template.ts';
import { MAINTAINER, releaseTime } from '../package/facts.ts';
import { DOCUMENTS, HOME, linuxOptions, stageLinux } from '../package/linux-tree.ts';
import { DEBIAN_ARCHITECTURE, PLATFORMS } from '../package/platforms.ts';
import { Stage } from '../package/stage.ts';

const SCRIPTS = ['postinst', 'prerm', 'postrm'];

const { output, platform, compression, version } = linuxOptions();
const architecture = DEBIAN_ARCHITECTURE[PLATFORMS[platform].cpu];

using stage = new Stage();
await stageLinux(stage, {
  platform,
  version,
  zsh: 'zsh/vendor-completions',
});
stageDebian();
stage.settle();
process.stdout.write(`${pack()}\n`);

function own(name: string): string {
  return readFileSync(path.join(import.meta.dirname, name), 'utf8');
}

function stageDebian(): void {
  stage.put(`${DOCUMENTS}/copyright`, copyright());
  const date = new Date(releaseTime() * 1000).toUTCString().replace('GMT', '+0000');
  const changes = `holdfast (${version}) stable; urgency=medium\n\n  * See README.md.\n\n -- ${MAINTAINER}  ${date}\n`;
  stage.put(`${DOCUMENTS}/changelog.gz`, gzipSync(changes, { level: 9 }));
  stage.put('/usr/share/lintian/overrides/holdfast', own('lintian-overrides'));
  const fields = {
    VERSION: version,
    ARCHITECTURE: architecture,
    SIZE: String(Math.ceil(stage.size() / 1024)),
    MAINTAINER,
  };
  stage.put(
    '/DEBIAN/control',
    fill(own('control'), fields, (text) => text),
  );
  for (const name of SCRIPTS) stage.putProgram(`/DEBIAN/${name}`, own(name));
}

function copyright(): string {
  return `Copyright: 2026 ${MAINTAINER}
License: Apache-2.0

Holdfast is under the Apache License 2.0, which is on Debian systems in /usr/share/common-licenses/Apache-2.0.
The packages that it uses have their licenses beside them, below ${HOME}/node_modules, and the runtime below
${HOME}/bin.
`;
}

function pack(): string {
  mkdirSync(output, { recursive: true });
  const file = path.join(output, `holdfast_${version}_${architecture}.deb`);
  const how = ['--root-owner-group', `-Z${compression}`, '--threads-max=1'];
  execFileSync('dpkg-deb', [...how, '--build', stage.directory, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: String(releaseTime()) },
  });
  return file;
}
