/** The agent's log file: whatever happens to it, whoever says something goes on. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { openAgentLog } from '../../../src/cli/start/agent-log.ts';

/** Bytes that the disk still takes; undefined: as many as come. */
const disk = vi.hoisted(() => ({ room: undefined as number | undefined, renames: true, opens: true }));
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    writeSync(file: number, bytes: Buffer, at: number) {
      if (disk.room === undefined) return fs.writeSync(file, bytes, at);
      const length = Math.min(disk.room, bytes.length - at);
      if (length === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      disk.room -= length;
      return fs.writeSync(file, bytes, at, length);
    },
    openSync(path: string, flags: string, mode: number) {
      if (!disk.opens) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
      return fs.openSync(path, flags, mode);
    },
    renameSync(from: string, to: string) {
      if (!disk.renames) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      fs.renameSync(from, to);
    },
  };
});

const LARGE = 'x'.repeat(11 * 1024 * 1024);
let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-log-'));
  file = join(directory, 'agent.log');
});
afterEach(() => {
  Object.assign(disk, { room: undefined, renames: true, opens: true });
  rmSync(directory, { recursive: true });
});

function linesIn(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n');
}

function messagesIn(path: string): readonly string[] {
  return linesIn(path)
    .filter((line) => line.endsWith('}'))
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
}

test('what a full disk does not take is counted, and told when there is room again', () => {
  const printed: string[] = [];
  using target = openAgentLog(directory, (line) => printed.push(line), systemClock);
  const log = createLog('info', target);
  log.info('before');
  // The last block takes a part of a line.
  disk.room = 20;
  log.error('lost');
  log.error('lost too');
  disk.room = undefined;
  log.info('after');
  log.info('and on');
  expect(messagesIn(file)).toEqual(['before', '2 lines of this log could not be written', 'after', 'and on']);
  expect(linesIn(file)[1]).toHaveLength(20);
  expect(printed.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'before',
    'lost',
    'lost too',
    'after',
    'and on',
  ]);
});

test('is there again after somebody took it away', () => {
  using target = openAgentLog(directory, undefined, systemClock);
  const log = createLog('info', target);
  log.info(LARGE);
  rmSync(file);
  log.warn('one');
  log.warn('two');
  expect(messagesIn(file)).toEqual(['one', 'two']);
});

test('goes on in the same file while the older half cannot be put aside', () => {
  using target = openAgentLog(directory, undefined, systemClock);
  const log = createLog('info', target);
  log.info(LARGE);
  disk.renames = false;
  log.warn('one');
  expect(messagesIn(file)).toEqual([LARGE, 'one']);
  disk.renames = true;
  log.info('x'.repeat(1024 * 1024));
  log.warn('two');
  expect(messagesIn(file)).toEqual(['two']);
  expect(messagesIn(`${file}.1`)).toHaveLength(3);
});

test('goes on in the older file while no new one can be made', () => {
  using target = openAgentLog(directory, undefined, systemClock);
  const log = createLog('info', target);
  log.info(LARGE);
  disk.opens = false;
  log.warn('one');
  expect(messagesIn(`${file}.1`)).toEqual([LARGE, 'one']);
  disk.opens = true;
  log.info('x'.repeat(1024 * 1024));
  log.warn('two');
  expect(messagesIn(file)).toEqual(['two']);
});
