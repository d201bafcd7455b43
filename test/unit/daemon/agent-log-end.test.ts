/** The end of the agent's log: as many lines as are asked for, however large the file is. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endOfAgentLog, type LogWish } from '../../../src/daemon/state/agent-log-end.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-log-'));
  file = join(directory, 'agent.log');
});
afterEach(() => rmSync(directory, { recursive: true }));

function line(msg: string, level = 30, more: object = {}): string {
  return JSON.stringify({ level, time: '2026-11-20T10:00:00.000Z', msg, ...more });
}

async function texts(wish: Partial<LogWish> = {}): Promise<readonly string[]> {
  return (await endOfAgentLog(directory, { lines: 1_000, level: 'debug', ...wish })).map(({ text }) => text);
}

test('is empty where there is no log, or nothing in it', async () => {
  expect(await texts()).toEqual([]);
  writeFileSync(file, '');
  expect(await texts()).toEqual([]);
});

test('has whole lines, also those that lie across what is read at once', async () => {
  // Lines of all lengths, of characters of three bytes, over several blocks.
  const said = Array.from({ length: 900 }, (_, count) => `${count} ${'€'.repeat((count * 37) % 401)}`);
  writeFileSync(file, said.map((msg) => `${line(msg)}\n`).join(''));
  expect(await texts()).toEqual(said);
  expect(await texts({ lines: 7 })).toEqual(said.slice(-7));
  // The last line has no end when the agent is just writing it.
  writeFileSync(file, said.map((msg) => line(msg)).join('\n'));
  expect(await texts()).toEqual(said);
  writeFileSync(file, `${line('a')}\n${line('b').slice(0, -5)}`);
  expect(await texts()).toEqual(['a']);
});

test('goes on in the older file, and leaves out what is less important', async () => {
  writeFileSync(`${file}.1`, `${line('old')}\n${line('old and bad', 50)}\n`);
  writeFileSync(file, `${line('new', 20)}\n${line('new and bad', 60)}\n`);
  expect(await texts()).toEqual(['old', 'old and bad', 'new', 'new and bad']);
  expect(await texts({ level: 'info' })).toEqual(['old', 'old and bad', 'new and bad']);
  expect(await texts({ level: 'error' })).toEqual(['old and bad', 'new and bad']);
  expect(await texts({ lines: 3 })).toEqual(['old and bad', 'new', 'new and bad']);
});

test('has the message of the error beside what was said, once', async () => {
  const err = { message: 'It is full', stack: 'Error: It is full' };
  writeFileSync(
    file,
    [
      line('it could not be written', 50, { err }),
      line('It is full', 50, { err }),
      line('something: It is full', 50, { err }),
      JSON.stringify({ level: 50, time: '2026-11-20T10:00:00.000Z', err }),
      JSON.stringify({ level: 50, time: 'never', msg: 'of no time' }),
      '"text"',
      'null',
    ].join('\n'),
  );
  expect(await texts()).toEqual([
    'it could not be written: It is full',
    'It is full',
    'something: It is full',
    'It is full',
  ]);
});

test('takes no longer for a file of 8 GB, of which it reads the last part alone', async () => {
  writeFileSync(file, '');
  truncateSync(file, 8 * 1024 ** 3);
  writeFileSync(file, `\n${line('the last')}\n`, { flag: 'a' });
  const beganMs = performance.now();
  expect(await texts({ level: 'error' })).toEqual([]);
  expect(await texts()).toEqual(['the last']);
  expect(performance.now() - beganMs).toBeLessThan(5_000);
});
