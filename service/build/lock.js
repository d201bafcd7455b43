/**
 * Makes the lock files say what holds for this program: `npm run lock`, after every change of the dependencies.
 *
 * - `engines` go. npm compares them with the Node.js that installs, and fills a screen with warnings on Node.js 20, though
 *   what is installed runs in the private runtime. Those of the private runtimes are put in: with a Node.js that is new
 *   enough npm passes them over, which saves a third of the download.
 * - `hasInstallScript` goes. npm then runs no script of a dependency: all native parts are in their packages, except for
 *   zstd-napi's, which after-install.js fetches.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OLDEST_NODE, RUNTIME_PACKAGE } from '../bin/runtime.js';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

export const LOCK_FILES = ['package-lock.json', 'test/package-lock.json'];

/** The text of a lock file as it should be. */
export function normalLock(text) {
  const lock = JSON.parse(text);
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (place === '') continue;
    delete entry.engines;
    delete entry.hasInstallScript;
    delete entry.resolved;
    if (RUNTIME_PACKAGE.test(place.replace(/^node_modules\//, '')))
      entry.engines = { node: `<${OLDEST_NODE.join('.')}` };
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of LOCK_FILES) {
    const file = path.join(root, name);
    writeFileSync(file, normalLock(readFileSync(file, 'utf8')));
  }
}
