/**
 * Makes what a container image is built from, and the image if a builder is there:
 *   node service/container/build.ts [--output DIR] [--platform linux-arm64]… [--base IMAGE] [--builder podman|docker|buildah|none]
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fill } from '../../src/cli/install/template.ts';
import { licenseText } from '../package/documents.ts';
import { OUTPUT, ROOT, ownVersion, releaseTime } from '../package/facts.ts';
import { DEBIAN_ARCHITECTURE, PLATFORMS, platformNamed } from '../package/platforms.ts';
import { stageProgram } from '../package/program.ts';
import { Stage } from '../package/stage.ts';

const BUILDERS = ['docker', 'podman', 'buildah'];

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: path.join(OUTPUT, 'container') },
    platform: { type: 'string', multiple: true, default: ['linux-x64'] },
    version: { type: 'string', default: ownVersion() },
    base: { type: 'string' },
    builder: { type: 'string' },
  },
});
const { version, output, base } = values;

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const name of values.platform) layOut(name);
writeFileSync(path.join(output, 'Containerfile'), own('Containerfile'));
writeFileSync(
  path.join(output, 'compose.yaml'),
  fill(own('compose.yaml'), { VERSION: version }, (text) => text),
);
const builder = values.builder ?? BUILDERS.find(isThere);
if (builder === undefined || builder === 'none') {
  process.stdout.write(
    `${output}\nNo image was made. Run there: docker build -f Containerfile -t holdfast:${version} .\n`,
  );
} else {
  build(builder);
}

function own(name: string): string {
  return readFileSync(path.join(import.meta.dirname, name), 'utf8');
}

function layOut(name: string): void {
  const platform = platformNamed(name);
  const { os, cpu } = PLATFORMS[platform];
  if (os !== 'linux') throw new Error(`Containers are for Linux, and ${name} is not`);
  using stage = new Stage();
  stageProgram(stage, '', platform, version);
  stage.put('LICENSE', licenseText());
  stage.putProgram('holdfast', readFileSync(path.join(ROOT, 'service', 'archive', 'holdfast')));
  stage.settle();
  const place = path.join(output, `program-${DEBIAN_ARCHITECTURE[cpu]}`);
  cpSync(stage.directory, place, { recursive: true, preserveTimestamps: true });
}

function isThere(program: string): boolean {
  // Not `--version`: the client of docker tells that without the service that builds.
  return spawnSync(program, ['version'], { stdio: 'ignore' }).status === 0;
}

function build(program: string): void {
  const words = ['build', '-f', 'Containerfile', '-t', `holdfast:${version}`];
  const time = String(releaseTime());
  // The time of the commit, of the image and of what is in it: docker has it for the image alone.
  const kind = program === 'docker' ? [] : ['--format', 'docker', '--timestamp', time];
  const from = base === undefined ? [] : ['--build-arg', `BASE=${base}`];
  const when = ['--build-arg', `SOURCE_DATE_EPOCH=${time}`];
  execFileSync(program, [...words, ...kind, ...from, ...when, '.'], {
    cwd: output,
    stdio: ['ignore', 2, 2],
  });
  process.stdout.write(`holdfast:${version}\n`);
}
