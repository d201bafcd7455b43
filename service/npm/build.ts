/**
 * Makes the npm package: `node service/npm/build.ts [--output DIR] [--version V]`. It has the program, its page, the
 * templates of services, and the client for programs of others; its packages are fetched when it is installed, in the
 * versions of the lock file.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { documents, licenseText } from '../package/documents.ts';
import { HOMEPAGE, OUTPUT, ROOT, ownVersion, summary } from '../package/facts.ts';
import { readManifest } from '../package/package-files.ts';
import { stageCompiled } from '../package/program.ts';
import { Stage } from '../package/stage.ts';
import { manualPages } from '../manual/manual.ts';

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: OUTPUT },
    version: { type: 'string', default: ownVersion() },
  },
});
const { version } = values;
const output = path.resolve(values.output);

/** Of what npm runs after an installation nothing is needed: it fetches a faster zstd, and removes what nobody uses. */
const AFTER_INSTALL = 'service/build/after-install.js';

using stage = new Stage();
stageCompiled(stage, '', ['linux', 'darwin', 'win32']);
stage.copyTree(path.join(ROOT, 'dist', 'client'), 'dist/client');
stage.copyProgram(path.join(ROOT, 'service', 'bin', 'holdfast.js'), 'service/bin/holdfast.js');
stage.copy(path.join(ROOT, AFTER_INSTALL), AFTER_INSTALL);
for (const [name, content] of documents()) if (isForUsers(name)) stage.put(name, content);
stage.put('LICENSE', licenseText());
const pages = Object.entries(await manualPages(version));
for (const [name, text] of pages) stage.put(`man/${name}`, text);
stage.put('package.json', json(manifest()));
stage.put('npm-shrinkwrap.json', json(shrinkwrap()));
stage.settle();
mkdirSync(output, { recursive: true });
const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', output];
const file = execFileSync('npm', words, { cwd: stage.directory, encoding: 'utf8' }).trim();
process.stdout.write(`${path.join(output, file)}\n`);

/** How it is made and tested is told where it is made. */
function isForUsers(name: string): boolean {
  return !/^docs\/(?:reliability\/|development|architecture|ui\.md|nightly)/.test(name);
}

function manifest(): object {
  const { name, license, type, engines, bin, exports, dependencies, optionalDependencies } =
    readManifest(ROOT);
  return {
    name,
    version,
    description: summary(),
    keywords: ['backup', 'restore', 'encryption', 'deduplication', 'snapshot'],
    homepage: HOMEPAGE,
    license,
    type,
    bin,
    exports,
    man: pages.map(([page]) => `man/${page}`),
    scripts: { postinstall: `node ${AFTER_INSTALL}` },
    engines,
    dependencies,
    optionalDependencies,
  };
}

/** The lock file without what only builds and tests need. npm takes the versions in it, and skips runtimes as it says. */
function shrinkwrap(): object {
  const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { readonly dev?: boolean; readonly devDependencies?: object }>
    >;
  };
  const entries = Object.entries(lock.packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([place, { devDependencies: _none, ...entry }]) => [
      place,
      place === '' ? { ...entry, version } : entry,
    ]);
  return { ...lock, version, packages: Object.fromEntries(entries) };
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
