import { describe, expect, test } from 'vitest';
import type { Place } from '../../../src/daemon/places/destinations.ts';
import { reachability } from '../../../src/daemon/places/reachability.ts';
import type { DestinationReach } from '../../../src/jobs/agent.ts';
import type { Job } from '../../../src/jobs/job.ts';

type Parts = Parameters<typeof reachability>[1];
type Known = Pick<Job, 'status'> & { readonly at: number; readonly code?: string };
interface Seen {
  readonly isPresent?: boolean;
  readonly isSeen?: boolean;
}

/** What is known where these are the newest jobs of their status. */
function ask(place: Partial<Place>, known: readonly Known[], seen: Seen = {}): DestinationReach {
  const { isPresent = true, isSeen = isPresent } = seen;
  const jobs = known.map(({ status, at, code }) => ({
    status,
    started_at: at - 1,
    finished_at: status === 'queued' ? null : at,
    error: code === undefined ? null : { code },
  })) as unknown as readonly Job[];
  const parts = {
    destinations: { isPresent: () => isPresent, isSeen: () => isSeen },
    jobs: {
      newest: ({ status, hasError = false }: { status?: string; hasError?: boolean }) =>
        jobs.find((job) => job.status === status && (!hasError || job.error !== null)),
    },
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
      'a job waits for one that is to be tried again',
      [
        { status: 'queued', at: 9 },
        { status: 'queued', at: 5, code: unreachable },
      ],
      false,
    ],
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
    const reachedAt = known.find(({ status }) => status === 'completed')?.at ?? null;
    const reason = answer === false ? 'no_answer' : null;
    expect(ask({ directory: undefined }, known)).toEqual({ reachable: answer, reachedAt, reason });
  });
});

describe('a directory of this machine', () => {
  const reached: readonly Known[] = [{ status: 'completed', at: 5 }];
  const missing = '/mnt/holdfast-nothing-is-mounted-here/h';

  test('is reachable when it is there', () => {
    const found = { reachable: true, reachedAt: 5, reason: null };
    expect(ask({ directory: '/srv/usb' }, reached)).toEqual(found);
    expect(ask({ directory: '/srv/usb' }, [])).toEqual({ ...found, reachedAt: null });
  });

  test('is not when its repository went with it', () => {
    const gone = { isPresent: false };
    const found = { reachable: false, reachedAt: 5, reason: 'not_there' };
    expect(ask({ directory: '/srv/usb' }, reached, gone)).toEqual(found);
    expect(ask({ directory: missing }, reached, gone)).toEqual({ ...found, reason: 'not_mounted' });
  });

  test('is never called reachable while it is absent, though the first backup would make it', () => {
    const unused = { isPresent: true, isSeen: false };
    const found = { reachable: null, reachedAt: null, reason: null };
    expect(ask({ directory: '/srv/new' }, [], unused)).toEqual(found);
  });

  test('counts only once something was stored, where a disk should be mounted', () => {
    expect(ask({ directory: missing }, []).reachable).toBe(null);
    expect(ask({ directory: missing }, reached).reachable).toBe(true);
  });
});
