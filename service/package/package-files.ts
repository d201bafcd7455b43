/** Which installed packages the program needs, and which of their files. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RUNTIME_PACKAGE } from '../bin/runtime.js';
import type { Platform } from './platforms.ts';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Needed only to build or fetch native parts, or only by type checkers. */
const BUILD_ONLY = /^(?:@types\/|prebuild-install$|node-addon-api$|node-abi$|undici-types$)/;

/** Directories below `node_modules`: what package.json asks for, and what that asks for, as Node.js finds it. */
export function neededPackages(root: string): readonly string[] {
  const found = new Set<string>();
  const visit = (directory: string, { dependencies = {}, optionalDependencies = {} }: Manifest): void => {
    for (const name of new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies)])) {
      if (BUILD_ONLY.test(name)) continue;
      const place = resolvePackage(root, directory, name);
      if (place === undefined) {
        if (optionalDependencies[name] === undefined)
          throw new Error(`${name} is not installed. Run: npm ci`);
        continue;
      }
      if (found.has(place)) continue;
      found.add(place);
      visit(place, readManifest(path.join(root, place)));
    }
  };
  const { dependencies = {}, optionalDependencies = {} } = readManifest(root);
  // Of the runtimes one is taken apart, and lies in a place of its own.
  const others = Object.entries(optionalDependencies).filter(([name]) => !RUNTIME_PACKAGE.test(name));
  visit('', { dependencies, optionalDependencies: Object.fromEntries(others) });
  return [...found].sort();
}

export function readManifest(directory: string): Manifest & Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'));
}

function resolvePackage(root: string, from: string, name: string): string | undefined {
  for (let at = from; ; at = path.dirname(at)) {
    const here = at === '.' ? '' : at;
    const place = path.join(here, 'node_modules', name);
    if (existsSync(path.join(root, place, 'package.json'))) return place;
    if (here === '') return undefined;
  }
}

const NEVER_DIRECTORIES =
  /(?:^|\/)(?:node_modules|\.github|\.vscode|tests?|__tests__|benchmarks?|bench|fixtures?|examples?|docs?|coverage|deps|obj\.target|\.deps)(?:\/|$)/;
const NEVER_FILES =
  /(?:\.map|\.[cm]?ts|\.tsx|\.flow|\.md|\.markdown|\.gypi?|\.cc?|\.cpp|\.hh?|\.hpp|\.o|\.a|\.d|\.mk|\.ya?ml|\.tsbuildinfo|\.html?|Makefile|binding\.gyp)$/i;
/** Of whoever works on the package: what tools find by a name that begins with a dot, and their settings. */
const NEVER_NAMED =
  /(?:^|\/)(?:\.[^/]+(?:\/.*)?|[^/]*\.config\.[cm]?js|eslint[^/]*|tsconfig[^/]*|CHANGELOG[^/]*|AUTHORS|PATENTS)$/i;
const KEPT_FILES = /(?:^|\/)(?:licen[cs]e|copying|notice)[^/]*$/i;

/** Whether a file of a package is of use while the program runs on that platform. `name` is below the package. */
export function isWanted(name: string, platform: Platform): boolean {
  if (NEVER_DIRECTORIES.test(path.dirname(name) === '.' ? '' : `${path.dirname(name)}/`)) return false;
  if (KEPT_FILES.test(name)) return true;
  if (NEVER_FILES.test(name) || NEVER_NAMED.test(name)) return false;
  return !isForeign(name, platform);
}

/** A native part for another platform. */
function isForeign(name: string, { os, cpu }: Platform): boolean {
  if (!/\.(?:node|dll|dylib|so|lib|exe|pdb)$/.test(name)) return false;
  const named = /(?:darwin|win32|freebsd|openbsd|android|linuxmusl|linux|musl)[^/]*/.exec(name)?.[0];
  return named !== undefined && !new RegExp(`^${os}[-_]?${cpu}`).test(named);
}
