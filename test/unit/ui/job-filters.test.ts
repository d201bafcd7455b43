import { describe, expect, it } from 'vitest';
import type { AnyJob } from '../../../src/api/schemas/page/jobs.ts';
import { hasFilters, listQuery, merged, readFilters } from '../../../src/ui/pages/jobs/job-filters.tsx';
import { pauseEnd } from '../../../src/ui/pages/jobs/pause-dialog.tsx';
import { groupProblems } from '../../../src/ui/pages/jobs/job-problems.tsx';

describe('filters of the list of jobs', () => {
  it('are read from the address, without what is none', () => {
    const query = new URLSearchParams('type=restore&status=eaten&source=/srv/a b&since=week');
    expect(readFilters(query)).toEqual({
      type: 'restore',
      status: undefined,
      source: '/srv/a b',
      destination: undefined,
      since: 'week',
    });
    expect(hasFilters(readFilters(new URLSearchParams('status=eaten&since=constructor')))).toBe(false);
  });

  it('become a request: a span is counted back from now', () => {
    const now = Date.UTC(2026, 10, 22, 10);
    expect(listQuery({ type: 'check', since: 'day' }, now)).toEqual({
      type: 'check',
      created_after: '2026-11-21T10:00:00.000Z',
    });
    expect(listQuery({ status: 'failed' }, now)).toEqual({ status: 'failed' });
  });

  it('keep what was loaded when the newest are told again', () => {
    const job = (id: string, hour: number, status = 'completed') =>
      ({ id, status, created_at: new Date(Date.UTC(2026, 10, 22, hour)).toISOString() }) as AnyJob;
    const known = [job('b', 9, 'running'), job('a', 8), job('z', 7)];
    const told = [job('c', 10), job('b', 9)];
    expect(merged(told, known).map(({ id, status }) => `${id} ${status}`)).toEqual([
      'c completed',
      'b completed',
      'a completed',
      'z completed',
    ]);
  });
});

describe('the end of a pause', () => {
  const now = new Date(2026, 10, 22, 23, 15);

  it('is an hour away, the next morning, or a time that was chosen', () => {
    expect(pauseEnd('hour', '', now)).toBe(new Date(2026, 10, 23, 0, 15).toISOString());
    expect(pauseEnd('morning', '', now)).toBe(new Date(2026, 10, 23, 8).toISOString());
    expect(pauseEnd('time', '2026-11-24T18:30', now)).toBe(new Date(2026, 10, 24, 18, 30).toISOString());
    expect(pauseEnd('resumed', '', now)).toBeNull();
  });

  it('is none when the time is over, or no time', () => {
    expect(pauseEnd('time', '2026-11-22T23:15', now)).toBeUndefined();
    expect(pauseEnd('time', '', now)).toBeUndefined();
  });
});

describe('problems of files', () => {
  it('stand together by their code, the most frequent first', () => {
    const problem = (code: string, path: string) => ({ code, path, message: '' });
    const groups = groupProblems([problem('EIO', '/a'), problem('EACCES', '/b'), problem('EACCES', '/c')]);
    expect(groups.map(({ code, problems }) => [code, problems.map(({ path }) => path)])).toEqual([
      ['EACCES', ['/b', '/c']],
      ['EIO', ['/a']],
    ]);
  });
});
