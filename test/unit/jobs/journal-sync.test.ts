/** What the journal has written is on the disk before it says so: the calls that see to that, and what their failure means. */
import fs, { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StateError } from '../../../src/base/errors.ts';
import type { DurableRecord } from '../../../src/db/durable.ts';
import { openJournal, type Journal } from '../../../src/jobs/journal.ts';

let directory: string;
let journal: Journal;
/** Calls on files of the journal in their order. */
let calls: string[];

const record = (value: string): DurableRecord => ({ kind: 'setting', key: 'some', value });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-journal-'));
  journal = openJournal(directory);
  calls = [];
  for (const name of ['openSync', 'writeSync', 'fdatasyncSync', 'fsyncSync', 'renameSync'] as const) {
    const real: unknown = Reflect.get(fs, name);
    if (typeof real !== 'function') throw new TypeError(`there is no ${name}`);
    vi.spyOn(fs, name).mockImplementation((...args: unknown[]) => {
      calls.push(name);
      return Reflect.apply(real, fs, args);
    });
  }
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  journal.close();
  rmSync(directory, { recursive: true });
});

describe('a line of the journal', () => {
  it('is synced before it counts as written, and its file and the entry of that with the first one', () => {
    journal.append(record('1'));
    expect(calls).toEqual(['openSync', 'openSync', 'fsyncSync', 'writeSync', 'fdatasyncSync']);
    calls = [];
    journal.append(record('2'));
    expect(calls).toEqual(['writeSync', 'fdatasyncSync']);
  });

  it('that could not be synced is an error, and the next one is written whole', () => {
    journal.append(record('1'));
    vi.mocked(fs.fdatasyncSync).mockImplementationOnce(() => {
      throw Object.assign(new Error('EIO: injected'), { code: 'EIO' });
    });
    expect(() => journal.append(record('2'))).toThrow(StateError);
    journal.append(record('3'));
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    const again = openJournal(directory);
    expect(again.found).toEqual([record('3')]);
    again.close();
  });
});

it('a journal that is written anew is synced before it takes its name, and the entry after that', () => {
  journal.append(record('1'));
  calls = [];
  journal.rotate(() => [record('1')]);
  expect(calls).toEqual(['openSync', 'writeSync', 'fsyncSync', 'renameSync', 'openSync', 'fsyncSync']);
  expect(readdirSync(directory).filter((name) => name.endsWith('.jnl'))).toHaveLength(1);
});
