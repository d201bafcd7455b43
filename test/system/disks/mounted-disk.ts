/** Of the programs of this folder: disks, mounted where the machine has them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { PASSPHRASE } from '../../sweep/program.ts';
import type { FileSystem } from '../parts/mounts.ts';
import { HOST_NAME } from './own-mounts.ts';

/**
 * Each has a file system of its own, so that what one syncs brings nothing of another to its disk: the agent's state and its
 * sources, a repository that is pruned, one that grows, one that is new, and the store of a Partner service.
 */
export const DISKS = ['state', 'store', 'grown', 'fresh', 'partner'] as const;
export type DiskName = (typeof DISKS)[number];
export const REPOSITORIES = ['store', 'grown', 'fresh'] as const;
export type RepositoryName = (typeof REPOSITORIES)[number];

/** New in each backup. */
export const MEBIBYTES = 12;
/** All but the last are forgotten. */
export const BACKUPS = 5;
/** What the backup that follows reads, and the first one of its repository. */
export const LATER = { source: '/mnt/state/papers', tag: `papers-${BACKUPS + 1}` } as const;
export const FIRST = { source: '/mnt/state/photos', tag: 'photos-1' } as const;

export interface DiskFacts {
  readonly kind: FileSystem;
  /** The directory of the raw images, `NAME.raw`. */
  readonly images: string;
}

/** What was written to standard input. */
export function given(): unknown {
  return JSON.parse(readFileSync(0, 'utf8'));
}

export function run(program: string, words: readonly string[]): string {
  return execFileSync(program, words, {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  });
}

export function shell(script: string): string {
  return run('/bin/sh', ['-c', script]).trim();
}

export function imageOf({ images }: DiskFacts, name: DiskName): string {
  return `${images}/${name}.raw`;
}

/** Everything below /mnt is this process's own. */
export function mountDisks(facts: DiskFacts, names: readonly DiskName[] = DISKS): void {
  run('hostname', [HOST_NAME]);
  run('mount', ['-t', 'tmpfs', 'tmpfs', '/mnt']);
  for (const name of names) {
    mkdirSync(`/mnt/${name}`);
    run('mount', ['-t', facts.kind, '-o', 'loop', imageOf(facts, name), `/mnt/${name}`]);
  }
}

export function unmountDisks(names: readonly DiskName[] = DISKS): void {
  for (const name of names) run('umount', [`/mnt/${name}`]);
}

/** As the suites of faults name them; the passphrase is that of all of them. */
export function placeOf(repository: RepositoryName) {
  return {
    state: '/mnt/state/agent',
    repository: `/mnt/${repository}/repository`,
    cache: '/mnt/cache',
    passphrase: PASSPHRASE,
  };
}
