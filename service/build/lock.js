/**
 * Makes the lock files say what holds for this program: `npm run lock`, after every change of the dependencies.
 *
 * - `engines` go. npm compares them with the Node.js that installs, and fills a screen with warnings on Node.js 20, though
 *   what is installed runs in the private runtime. Those of the private runtimes are put in: with a Node.js that is new
 *   enough npm passes them over, which saves a third of the download.
 * - Scripts of dependencies go: all native parts are in their packages, except for zstd-napi's, which after-install.js
 *   fetches. npm 11 goes by `allowScripts` in package.json; npm 10 runs whatever `hasInstallScript` announces, and compiles
 *   whatever has a binding.gyp without `gypfile: false`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OLDEST_NODE, RUNTIME_PACKAGE } from '../bin/runtime.js';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

const { allowScripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const WITHOUT_SCRIPT = new Set(Object.keys(allowScripts).filter((name) => !allowScripts[name]));

export const LOCK_FILES = ['package-lock.json', 'test/package-lock.json'];

/**
 * The text of a lock file as it should be.
 * @throws {Error} for a package with a script of which package.json does not say whether it may run
 */
export function normalLock(text) {
  const lock = JSON.parse(text);
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (place === '') continue;
    const name = place.replace(/^.*node_modules\//, '');
    if (entry.hasInstallScript && !WITHOUT_SCRIPT.has(name))
      throw new Error(`${name} has a script: look at it, and name it in allowScripts of package.json`);
    delete entry.engines;
    delete entry.hasInstallScript;
    delete entry.resolved;
    if (WITHOUT_SCRIPT.has(name)) entry.gypfile = false;
    if (RUNTIME_PACKAGE.test(name)) entry.engines = { node: `<${OLDEST_NODE.join('.')}` };
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of LOCK_FILES) {
    const file = path.join(root, name);
    writeFileSync(file, normalLock(readFileSync(file, 'utf8')));
  }
}
