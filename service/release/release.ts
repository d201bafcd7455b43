/**
 * `npm run release`: makes every package into one folder, and SHA256SUMS beside them. The same commit gives the same bytes.
 *   npm run release -- [--output DIR] [--version V] [--only npm,archive,deb,rpm,msi,manifests]
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { OUTPUT, ROOT, ownVersion, releaseTime } from '../package/facts.ts';
import { fillManifests } from './manifests.ts';
import { missingTools } from './tools.ts';

/** The scripts, in the order in which they run. Each prints the files that it made. */
const MAKERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  npm: [['npm']],
  archive: [['archive']],
  deb: [['deb'], ['deb', '--platform', 'linux-arm64']],
  rpm: [['rpm'], ['rpm', '--platform', 'linux-arm64']],
  msi: [['msi']],
};

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: path.join(OUTPUT, 'release') },
    version: { type: 'string', default: ownVersion() },
    only: { type: 'string', default: [...Object.keys(MAKERS), 'manifests'].join(',') },
  },
});
const { version } = values;
const output = path.resolve(values.output);
const kinds = values.only.split(',');

const missing = missingTools(kinds);
if (missing.length > 0) {
  process.stderr.write(`Nothing was made. Missing here: apt-get install ${missing.join(' ')}\n`);
  process.exit(1);
}
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const kind of kinds) for (const [script = '', ...words] of MAKERS[kind] ?? []) make(script, words);
const sums = await checksums();
if (kinds.includes('manifests')) fillManifests(output, version, sums);
writeFileSync(path.join(output, 'SHA256SUMS'), [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(''));
process.stdout.write(`${output}\n`);

function make(script: string, words: readonly string[]): void {
  const file = path.join(ROOT, 'service', script, 'build.ts');
  execFileSync(
    process.execPath,
    ['--no-warnings', file, '--output', output, '--version', version, ...words],
    // Every tool that packs takes the time from here.
    { stdio: ['ignore', 2, 2], env: { ...process.env, SOURCE_DATE_EPOCH: String(releaseTime()), TZ: 'UTC' } },
  );
}

/** File name -> SHA-256, sorted by name. */
async function checksums(): Promise<ReadonlyMap<string, string>> {
  const sums = new Map<string, string>();
  for (const name of readdirSync(output).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(path.join(output, name)), hash);
    sums.set(name, hash.digest('hex'));
  }
  return sums;
}
