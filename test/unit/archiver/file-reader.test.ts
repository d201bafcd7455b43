import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type * as xattr from '../../../src/system/xattr.ts';
import { Reading } from '../../support/read-files.ts';

const listing = vi.hoisted(() => ({ fails: false }));

vi.mock('../../../src/system/xattr.ts', async (original) => {
  const real = await original<typeof xattr>();
  const readXattrs: typeof real.readXattrs = (...of) => {
    if (!listing.fails) return real.readXattrs(...of);
    throw Object.assign(new Error('E2BIG: listxattr'), { code: 'E2BIG', syscall: 'listxattr' });
  };
  return { ...real, readXattrs };
});

/** Above the 128 MiB from which files are read in spans. */
const LARGE = 129 * 1024 * 1024;

function newPlace(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-reader-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A file of a person, and one of the same name that only root may read. */
function twoFiles(size: number): { place: string; own: string } {
  const place = newPlace();
  for (const [directory, text, mode] of [
    ['home', 'nothing much', 0o644],
    ['private', 'SECRET', 0o600],
  ] as const) {
    mkdirSync(join(place, directory));
    writeFileSync(join(place, directory, 'data'), text);
    truncateSync(join(place, directory, 'data'), size);
    chmodSync(join(place, directory, 'data'), mode);
  }
  return { place, own: join(place, 'home', 'data') };
}

function putLinkInPlaceOfDirectory(place: string): void {
  renameSync(join(place, 'home'), join(place, 'away'));
  symlinkSync(join(place, 'private'), join(place, 'home'));
}

describe.each([
  ['small', 100],
  ['large', LARGE],
])('a %s file', (_, size) => {
  it('is not read by way of a link that took the place of its directory after the walk', () => {
    const { place, own } = twoFiles(size);
    const reading = new Reading();
    reading.walk(own);
    putLinkInPlaceOfDirectory(place);
    reading.read();

    expect(reading.stored.filter((chunk) => chunk.includes('SECRET'))).toEqual([]);
    expect(reading.entries.get(own)).toBeUndefined();
    expect(reading.tally.problems.map(({ code }) => code)).toEqual(['ELOOP']);
  });

  it('that took the place of another one after the walk has the owner and the mode that it has itself', () => {
    const { place, own } = twoFiles(size);
    const reading = new Reading();
    reading.walk(own);
    renameSync(join(place, 'private', 'data'), own);
    reading.read();

    const entry = reading.entries.get(own);
    expect(entry).toMatchObject({ mode: 0o600, inode: statSync(own).ino, changedWhileRead: false });
    expect(reading.stored.some((chunk) => chunk.startsWith('SECRET'))).toBe(true);
  });

  it('that was closed to others after the walk is stored as closed', () => {
    const { own } = twoFiles(size);
    const reading = new Reading();
    reading.walk(own);
    chmodSync(own, 0o600);
    reading.read();

    expect(reading.entries.get(own)?.mode).toBe(0o600);
  });
});

/** Gives the file up, as Samba does for another program, so many milliseconds after the system asks for it. */
const HOLDER = `
import fcntl, os, signal, sys, time
file = os.open(sys.argv[1], os.O_RDWR)
def give(*_):
    time.sleep(float(sys.argv[2]))
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
signal.signal(signal.SIGIO, give)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
time.sleep(60)
`;

async function holdUntilAsked(path: string): Promise<void> {
  const holder = spawn('python3', ['-c', HOLDER, path, '0.2'], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
}

/** Node.js has no leases: Python takes one. */
const canLease = process.platform === 'linux' && spawnSync('python3', ['--version']).status === 0;

describe.runIf(canLease)('a file that another program holds under a lease', () => {
  it('is saved as soon as the other has given it up', async () => {
    const place = newPlace();
    const [held, other] = [join(place, 'held'), join(place, 'other')];
    writeFileSync(held, 'the held one');
    writeFileSync(other, 'the other one');
    await holdUntilAsked(held);
    const reading = new Reading();
    reading.walk(held);
    reading.walk(other);
    reading.read();

    expect(reading.tally.problems).toEqual([]);
    expect(reading.entries.get(held)?.size).toBe(12);
    expect(reading.stored).toEqual(['the other one', 'the held one']);
  });
});

describe('a file whose extended attributes cannot be listed', () => {
  it('is saved without them, and the snapshot says so', () => {
    const file = join(newPlace(), 'file');
    writeFileSync(file, 'precious');
    listing.fails = true;
    onTestFinished(() => {
      listing.fails = false;
    });
    const reading = new Reading();
    reading.walk(file);
    reading.read();

    expect(reading.tally.problems).toEqual([]);
    expect(reading.entries.get(file)).toMatchObject({ size: 8, xattrs: undefined });
    expect(reading.tally.omitted).toEqual([{ code: 'xattrs', reason: 'E2BIG', count: 1 }]);
  });
});
