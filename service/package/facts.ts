/** What every package says of the program, and the time that is written into all of them. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { readManifest } from './package-files.ts';

export const ROOT = path.resolve(import.meta.dirname, '..', '..');
/** Where finished packages go, unless another place is named. */
export const OUTPUT = path.join(ROOT, 'dist', 'package');
/** The identifier of the program on desktops and in catalogues of software. */
export const APPLICATION_ID = 'org.example.holdfast';
export const MAINTAINER = 'The Holdfast authors <holdfast@example.org>';
export const HOMEPAGE = 'https://holdfast.example.org';
/** The folder that finished packages are downloaded from; the version and the file's name follow. */
export const DOWNLOADS = `${HOMEPAGE}/download`;

/** Used where neither a commit nor the environment tells the time: 2026-01-01. */
const SOME_TIME = 1_767_225_600;

export function ownVersion(): string {
  return String(readManifest(ROOT)['version']);
}

export function summary(): string {
  return String(readManifest(ROOT)['description']);
}

/** Seconds since 1970: the time of the commit, so that a package made again is the same to the byte. */
export function releaseTime(): number {
  const named = Number(process.env['SOURCE_DATE_EPOCH'] ?? '');
  if (Number.isSafeInteger(named) && named > 0) return named;
  try {
    const said = execFileSync('git', ['log', '-1', '--format=%ct'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number(said) || SOME_TIME;
  } catch {
    return SOME_TIME;
  }
}
