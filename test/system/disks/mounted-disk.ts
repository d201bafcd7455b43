/** Of the programs of this folder: one disk, mounted where the machine has it, with an agent's state on it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PASSPHRASE } from '../../sweep/program.ts';
import type { FileSystem } from '../parts/mounts.ts';
import { HOST_NAME } from './own-mounts.ts';

export interface DiskFacts {
  readonly kind: FileSystem;
  /** The raw image. */
  readonly image: string;
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

/** Everything below /mnt is this process's own. @returns where the disk is */
export function mountDisk({ kind, image }: DiskFacts): string {
  run('hostname', [HOST_NAME]);
  run('mount', ['-t', 'tmpfs', 'tmpfs', '/mnt']);
  const place = `/mnt/${kind}`;
  mkdirSync(place);
  run('mount', ['-t', kind, '-o', 'loop', image, place]);
  return place;
}

export function unmountDisk(place: string): void {
  run('umount', [place]);
}

/** As the suites of faults name them; the passphrase is that of all of them. */
export function placeOf(mount: string, repository = 'store') {
  return {
    state: path.join(mount, 'state'),
    repository: path.join(mount, repository),
    cache: '/mnt/cache',
    passphrase: PASSPHRASE,
  };
}
