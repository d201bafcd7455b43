/** A daemon whose circumstances a test decides: which disks there are, how much room, and what time the wall clock shows. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { openDaemonSite, type DaemonSite } from './daemon-site.ts';
import { hastyClock, type HastyClock } from './hasty-clock.ts';

export interface WallClock extends HastyClock {
  /** Moves the wall clock alone, as a person does who sets it. */
  set(ms: number): void;
}

export interface SituationSite extends DaemonSite {
  readonly clock: WallClock;
  /** Whether sources and local destinations share a disk. */
  sameDisk: boolean;
  /** Of the disk of the state directory. */
  freeBytes: number;
  /** The system lets nobody watch any more folders. */
  watchLimit: boolean;
  /** A file system of that size at the path, until the site is closed. */
  mount(path: string, size: string): void;
}

function wallClock(): WallClock {
  const inner = hastyClock();
  let aheadMs = 0;
  return { ...inner, now: () => inner.now() + aheadMs, set: (ms) => void (aheadMs += ms) };
}

export async function openSituationSite(): Promise<SituationSite> {
  const clock = wallClock();
  const mounted: string[] = [];
  let made: SituationSite | undefined;
  const site = await openDaemonSite({
    sourceName: 'Documents',
    clock,
    sameDisk: () => made?.sameDisk ?? false,
    freeBytes: async () => await Promise.resolve(made?.freeBytes ?? null),
  });
  const close = site[Symbol.asyncDispose].bind(site);
  // Not copied: some of what a site has changes.
  made = Object.assign(Object.create(site) as DaemonSite, {
    clock,
    sameDisk: false,
    freeBytes: 50_000_000_000,
    watchLimit: false,
    mount(path: string, size: string) {
      mkdirSync(path);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
      mounted.push(path);
    },
    async [Symbol.asyncDispose]() {
      for (const path of mounted) execFileSync('umount', ['-l', path]);
      await close();
    },
  });
  return made;
}
