/** What a thread that reads is told of a file. */
import { expect, it } from 'vitest';
import { taskOf } from '../../../src/archiver/read/batch-reader.ts';
import { encodeBatch, type ReadJob } from '../../../src/archiver/read/read-job.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';

const NS_PER_SECOND = 1_000_000_000n;

it('has the times of every file as they are, also those before 1677 and after 2262', () => {
  const seconds = [0n, 1_700_000_000n, 12_000_000_000n, -12_000_000_000n, 2n ** 63n - 1n, -(2n ** 63n)];
  const jobs = seconds.map((s, i): ReadJob => {
    const mtimeNs = s * NS_PER_SECOND + BigInt(i);
    const ctimeNs = mtimeNs + 1n;
    const facts = { size: 1, mtimeNs, ctimeNs, inode: 1, blocks: 8, mode: 0o644, uid: 1, gid: 1 };
    return { path: bytesOfText(`/f${i}`), facts, span: undefined, done: () => {} };
  });
  const { message } = encodeBatch(1, jobs);
  expect(jobs.map((_, i) => taskOf(message, i)).map(({ mtimeNs, ctimeNs }) => [mtimeNs, ctimeNs])).toEqual(
    jobs.map(({ facts }) => [facts.mtimeNs, facts.ctimeNs]),
  );
});
