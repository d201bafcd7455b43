import { describe, expect, test } from 'vitest';
import type { Place } from '../../../src/daemon/destinations.ts';
import { reachability } from '../../../src/daemon/reachability.ts';
import type { Job } from '../../../src/jobs/job.ts';

type Parts = Parameters<typeof reachability>[1];
type Known = Pick<Job, 'status'> & { readonly at: number; readonly code?: string };

/** What is known where these are the newest jobs of their status. */
function ask(place: Partial<Place>, known: readonly Known[], isPresent = true): boolean | null {
  const jobs = known.map(({ status, at, code }) => ({
    status,
    started_at: at - 1,
    finished_at: status === 'queued' ? null : at,
    error: code === undefined ? null : { code },
  })) as unknown as readonly Job[];
  const parts = {
    destinations: { isPresent: () => isPresent },
    jobs: { newest: ({ status }: { status?: string }) => jobs.find((job) => job.status === status) },
  } as unknown as Parts;
  return reachability({ name: 'far', ...place } as Place, parts);
}

const unreachable = 'DESTINATION_UNREACHABLE';

describe('a destination on another machine', () => {
  test.each<[what: string, known: readonly Known[], answer: boolean | null]>([
    ['no job was there', [], null],
    ['a job completed', [{ status: 'completed', at: 5 }], true],
    ['a job could not reach it', [{ status: 'failed', at: 5, code: unreachable }], false],
    ['a job is to be tried again', [{ status: 'queued', at: 5, code: unreachable }], false],
    ['a job failed for another reason', [{ status: 'failed', at: 5, code: 'READ_ERROR' }], null],
    ['a job waits for the first time', [{ status: 'queued', at: 5 }], null],
    [
      'a job completed since',
      [
        { status: 'failed', at: 5, code: unreachable },
        { status: 'completed', at: 9 },
      ],
      true,
    ],
    [
      'a job completed before',
      [
        { status: 'completed', at: 5 },
        { status: 'queued', at: 9, code: unreachable },
      ],
      false,
    ],
  ])('when %s', (_, known, answer) => {
    expect(ask({ directory: undefined }, known)).toBe(answer);
  });
});

test.each([true, false])('a directory of this machine is looked for: %s', (isThere) => {
  expect(ask({ directory: '/mnt/usb' }, [{ status: 'completed', at: 5 }], isThere)).toBe(isThere);
});
