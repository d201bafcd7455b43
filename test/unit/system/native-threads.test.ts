import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { native } from '../../../src/system/native.ts';
import { callsOfEveryKind } from './calls-of-every-kind.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-threads-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

function ownDirectory(name: string): string {
  mkdirSync(join(directory, name));
  return join(directory, name);
}

it('works in several threads at once, each with its own errno, and without warnings', async ({ skip }) => {
  skip(native === null, 'needs the C library, which is not to be had here');
  const script = new URL('native.worker.ts', import.meta.url);
  const messages: unknown[] = [];
  const ends = ['one', 'two two'].map(async (name) => {
    const worker = new Worker(script, { workerData: ownDirectory(name) });
    worker.on('message', (message) => messages.push(message));
    expect(await once(worker, 'exit')).toEqual([0]);
  });
  expect(callsOfEveryKind(ownDirectory('main thread'), 3000)).toBe(3000);
  await Promise.all(ends);
  expect(messages).toEqual([{ rounds: 3000 }, { rounds: 3000 }]);
});

/** The module as another process sees it, after `preparation` has changed that process. */
function seenAfter(preparation: string): unknown {
  const url = (name: string) => JSON.stringify(new URL(`../../../src/system/${name}`, import.meta.url).href);
  const script = `
    ${preparation}
    const { native, nativeMissing } = await import(${url('native.ts')});
    const { listXattrs, readXattrs, writeXattr } = await import(${url('xattr.ts')});
    const { dataExtents } = await import(${url('holes.ts')});
    const { ownerNames } = await import(${url('owner-names.ts')});
    let written = 'yes';
    try { writeXattr('/', 'user.a', Buffer.alloc(0)); } catch (error) { written = error.code; }
    console.log(JSON.stringify({
      native, nativeMissing, written,
      lists: [listXattrs('/'), readXattrs('/', () => {})],
      extents: dataExtents(0, 5),
      names: [ownerNames().userName(0), ownerNames().userId('root'), ownerNames().groupName(4000000000) ?? null],
    }));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return JSON.parse(output);
}

const withoutNative = {
  native: null,
  written: 'ENOTSUP',
  lists: [[], []],
  extents: [{ offset: 0, length: 5 }],
  names: process.platform === 'win32' ? [null, null, null] : ['root', 0, null],
};

it('is absent on Windows, and says so', () => {
  const found = seenAfter(`Object.defineProperty(process, 'platform', { value: 'win32' });`);
  expect(found).toEqual({ ...withoutNative, nativeMissing: expect.stringMatching(/^not offered on win32/) });
});

it('is absent where koffi cannot be loaded, and says why', ({ skip }) => {
  skip(native === null, 'nothing is loaded here anyway');
  const found = seenAfter(`
    const { registerHooks } = await import('node:module');
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier === 'koffi') throw new Error('no build for this machine');
        return next(specifier, context);
      },
    });`);
  expect(found).toEqual({
    ...withoutNative,
    nativeMissing: 'koffi could not be loaded: no build for this machine',
  });
});
