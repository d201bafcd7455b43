/**
 * Makes the archives that are unpacked and run, each with a Node.js of its own:
 *   node service/archive/build.ts [--output DIR] [--platform NAME]… [--version V]
 * `.tar.gz` takes tar and gzip, `.zip` takes zip.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { completions } from '../package/completions.ts';
import { documents, licenseText } from '../package/documents.ts';
import { OUTPUT, ownVersion, releaseTime } from '../package/facts.ts';
import { PLATFORMS, PLATFORM_NAMES, platformNamed, type PlatformName } from '../package/platforms.ts';
import { stageProgram } from '../package/program.ts';
import { Stage } from '../package/stage.ts';
import { manualPages } from '../manual/manual.ts';

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: OUTPUT },
    platform: { type: 'string', multiple: true, default: PLATFORM_NAMES },
    version: { type: 'string', default: ownVersion() },
  },
});
const { version } = values;
const output = path.resolve(values.output);

mkdirSync(output, { recursive: true });
for (const name of values.platform.map(platformNamed)) process.stdout.write(`${await make(name)}\n`);

async function make(platform: PlatformName): Promise<string> {
  using stage = new Stage();
  // One folder, so that unpacking spills nothing.
  const folder = `holdfast-${version}-${platform}`;
  await fill(stage, folder, platform);
  stage.settle();
  return PLATFORMS[platform].os === 'win32' ? zip(stage, folder) : tar(stage, folder);
}

async function fill(stage: Stage, folder: string, platform: PlatformName): Promise<void> {
  stageProgram(stage, folder, platform, version);
  for (const [name, content] of documents()) stage.put(`${folder}/${name}`, content);
  stage.put(`${folder}/LICENSE`, licenseText());
  const isWindows = PLATFORMS[platform].os === 'win32';
  const launcher = isWindows ? 'holdfast.cmd' : 'holdfast';
  stage.putProgram(`${folder}/${launcher}`, readFileSync(path.join(import.meta.dirname, launcher)));
  if (isWindows) return;
  for (const [name, text] of Object.entries(await manualPages(version)))
    stage.put(`${folder}/share/man/man${name.at(-1)}/${name}`, text);
  for (const [place, text] of Object.entries(completions())) stage.put(`${folder}/share/${place}`, text);
}

function tar(stage: Stage, folder: string): string {
  const file = path.join(output, `${folder}.tar.gz`);
  const plain = path.join(output, `${folder}.tar`);
  const how = ['--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
  // Files that are linked to the trees that are kept are files here.
  const words = [...how, '--hard-dereference', `--mtime=@${releaseTime()}`, '-cf', plain, folder];
  execFileSync('tar', words, { cwd: stage.directory });
  const target = openSync(file, 'w');
  try {
    execFileSync('gzip', ['-6', '--no-name', '--stdout', plain], { stdio: ['ignore', target, 'inherit'] });
  } finally {
    closeSync(target);
    rmSync(plain);
  }
  return file;
}

function zip(stage: Stage, folder: string): string {
  const file = path.join(output, `${folder}.zip`);
  rmSync(file, { force: true });
  const files = stage.names().join('\n');
  execFileSync('zip', ['-X', '-D', '-q', '-@', file], {
    cwd: stage.directory,
    input: files,
    // Times in it are those of a clock on the wall.
    env: { ...process.env, TZ: 'UTC' },
  });
  return file;
}
