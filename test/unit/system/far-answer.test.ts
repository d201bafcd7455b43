import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { answersFrom, touchFar } from '../../../src/system/far-answer.ts';

const never = new AbortController().signal;
const there = treePath(tmpdir());

test('a process tells whether something is there', async () => {
  expect(await touchFar(there, never)).toBe('there');
  expect(await touchFar(treePath(join(tmpdir(), 'no-such-thing')), never)).toBe('absent');
  expect(await touchFar(bytesOfText('/dev/null/below'), never)).toBe('absent');
});

test('whoever has no more patience gets no answer, and others of that mount get none either', async () => {
  const mount = bytesOfText('/mnt/slow');
  expect(await touchFar(there, never, { mount, patienceMs: 0 })).toBe('unanswered');
  const [short, long] = await Promise.all([
    touchFar(bytesOfText('/usr'), never, { mount, patienceMs: 0 }),
    touchFar(bytesOfText('/etc'), never, { mount }),
  ]);
  expect([short, long]).toEqual(['unanswered', 'there']);
});

test('who is told to stop does not wait', async () => {
  const reason = new Error('enough');
  await expect(touchFar(there, AbortSignal.abort(reason))).rejects.toBe(reason);
  const stop = new AbortController();
  const waiting = touchFar(there, stop.signal);
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test('what lies on this machine answers at once', async () => {
  expect(await answersFrom(join(tmpdir(), 'no-such-thing'), never, 0)).toBe(true);
});
