/** Which Node.js runs Holdfast: the one that was asked if it is new enough, else the private one that `npm ci` installed. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The first Node.js that everything has been tried on: zstd, Argon2, `using`, and no crash of native packages. */
export const OLDEST_NODE = [24, 7, 0];

/** The packages that hold nothing but a Node.js, one for each platform. */
export const RUNTIME_PACKAGE = /^node-(?:bin-)?(?:linux|darwin|win)-(?:x64|arm64)$/;

export function isNewEnough(version) {
  const parts = version.split('.').map(Number);
  const differing = OLDEST_NODE.findIndex((wanted, place) => parts[place] !== wanted);
  return differing === -1 || (parts[differing] ?? 0) > OLDEST_NODE[differing];
}

/** The program file of the private runtime, or undefined. */
export function privateRuntime(root) {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const require = createRequire(path.join(root, 'package.json'));
  for (const name of [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]) {
    try {
      const manifest = require.resolve(`${name}/package.json`);
      const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
      const file = path.join(path.dirname(manifest), typeof bin === 'string' ? bin : bin.node);
      if (existsSync(file)) return file;
    } catch {
      // Not installed: only the package of this platform is, and none where Node.js is new enough.
    }
  }
  const linked = path.join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(linked) ? linked : undefined;
}
