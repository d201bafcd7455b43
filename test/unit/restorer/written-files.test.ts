import { describe, expect, test } from 'vitest';
import { NO_RECORD } from '../../../src/restorer/target/entry-records.ts';
import type { JobResult } from '../../../src/restorer/content/messages.ts';
import { WrittenFiles } from '../../../src/restorer/content/written-files.ts';

const MIB = 1024 * 1024;

function result(job: number, files: readonly number[], bytes: number): JobResult {
  return {
    kind: 'done',
    job,
    written: Uint32Array.from(files),
    unchanged: 0,
    fileBytes: bytes,
    bytes,
    failures: [],
    omissions: [],
    unsynced: undefined,
    full: undefined,
    lastFile: NO_RECORD,
  };
}
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('files that have their content', () => {
  test('are completed when there are many', () => {
    const written = new WrittenFiles();
    written.settle(result(1, numbers(8_191), 0));
    expect(written.isEnough).toBe(false);
    written.settle(result(2, [8_191], 0));
    expect(written.isEnough).toBe(true);
    expect([...written.take(3)]).toEqual(numbers(8_192));
    expect(written.isEnough).toBe(false);
  });

  test('are completed when they hold much', () => {
    const written = new WrittenFiles();
    written.settle(result(1, [7], 255 * MIB));
    expect(written.isEnough).toBe(false);
    written.settle(result(2, [8], MIB));
    expect(written.isEnough).toBe(true);
  });

  test('are not asked for while a large one is still being written', () => {
    const written = new WrittenFiles();
    written.settle(result(1, [], 300 * MIB));
    expect(written.isEnough).toBe(false);
  });

  test('are known as incomplete until the job that completes them has answered', () => {
    const written = new WrittenFiles();
    written.settle(result(1, [4, 5], 10));
    written.take(2);
    written.settle(result(3, [6], 10));
    expect([...written]).toEqual([6, 4, 5]);
    expect(written.isUnderWay).toBe(true);
    written.settle(result(2, [], 0));
    expect([...written]).toEqual([6]);
    expect(written.isUnderWay).toBe(false);
  });

  test('are still incomplete when there was no room to complete them', () => {
    const written = new WrittenFiles();
    written.settle(result(1, [4, 5], 10));
    written.take(2);
    written.settle({ ...result(2, [], 0), full: 'ENOSPC' });
    expect([...written]).toEqual([4, 5]);
    expect(written.isUnderWay).toBe(false);
  });

  test('when there are none, are nobody’s job', () => {
    const written = new WrittenFiles();
    expect([...written.take(1)]).toEqual([]);
    expect(written.isUnderWay).toBe(false);
  });
});
