import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FromEngine } from '../../../src/engine/protocol.ts';
import { PROGRESS_EVERY_MS, Report, type Moment } from '../../../src/engine/report.ts';
import { manualClock, type ManualClock } from '../../support/manual-clock.ts';

let sent: FromEngine[];
let clock: ManualClock;
let report: Report;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  sent = [];
  clock = manualClock();
  report = new Report((message) => sent.push(message), clock);
});

afterEach(() => {
  report.stop();
  vi.useRealTimers();
});

function moment(facts: Partial<Moment> = {}): Moment {
  return {
    files: 0,
    bytes: 0,
    filesDone: 0,
    bytesDone: 0,
    filesTotal: undefined,
    bytesTotal: undefined,
    ...facts,
  };
}

function progressMessages(): readonly Extract<FromEngine, { kind: 'progress' }>[] {
  return sent.filter((message) => message.kind === 'progress');
}

describe('progress', () => {
  test('is told twice a second at most, however often the counters change', () => {
    let bytes = 0;
    report.follow(() => moment({ bytesDone: (bytes += 1) }));
    vi.advanceTimersByTime(10_000);
    expect(PROGRESS_EVERY_MS).toBeGreaterThanOrEqual(500);
    expect(progressMessages()).toHaveLength(20);
  });

  test('is not told while nothing changes', () => {
    report.follow(() => moment({ files: 3 }));
    vi.advanceTimersByTime(10_000);
    expect(progressMessages()).toHaveLength(1);
  });

  test('has a percentage only once the total is known, and never 100 before the end', () => {
    let now = moment({ bytesDone: 50 });
    report.follow(() => now);
    vi.advanceTimersByTime(500);
    now = moment({ bytesDone: 50, filesTotal: 2, bytesTotal: 200 });
    vi.advanceTimersByTime(500);
    now = moment({ bytesDone: 300, filesTotal: 2, bytesTotal: 200 });
    vi.advanceTimersByTime(500);
    expect(progressMessages().map(({ progress }) => progress.percent)).toEqual([null, 25, 99.9]);
    expect(progressMessages().map(({ progress }) => progress.bytes_total)).toEqual([50, 200, 300]);
    expect(report.finished(now)).toMatchObject({ percent: 100, eta_seconds: null, bytes_total: 300 });
  });

  test('goes by files where there are no bytes', () => {
    report.follow(() => moment({ filesDone: 1, filesTotal: 4, bytesTotal: 0 }));
    vi.advanceTimersByTime(500);
    expect(progressMessages()[0]?.progress.percent).toBe(25);
  });

  test('has the rate and the time left', async () => {
    let bytesDone = 0;
    report.follow(() => moment({ bytesDone, filesTotal: 1, bytesTotal: 100_000 }));
    for (let i = 0; i < 20; i += 1) {
      await clock.advance(500);
      bytesDone += 500;
      vi.advanceTimersByTime(500);
    }
    const last = progressMessages().at(-1)?.progress;
    expect(last?.rate_bytes_per_second).toBeCloseTo(1000, -2);
    expect(last?.eta_seconds).toBeGreaterThan(80);
    expect(last?.eta_seconds).toBeLessThan(100);
  });

  test('tells the bytes that were stored', () => {
    report.follow(() => moment({ files: 7, bytes: 70, counters: { bytes_uploaded: 42 } }));
    vi.advanceTimersByTime(500);
    expect(progressMessages()[0]).toMatchObject({ files: 7, bytes: 70, stored: 42 });
  });

  test('ends with the report', () => {
    let bytes = 0;
    report.follow(() => moment({ bytesDone: (bytes += 1) }));
    report.stop();
    vi.advanceTimersByTime(10_000);
    expect(sent).toEqual([]);
  });
});

test('a phase is told when it changes', () => {
  for (const phase of ['scanning', 'scanning', 'uploading', 'uploading', 'scanning'] as const)
    report.phase(phase);
  expect(sent.map((message) => (message.kind === 'phase' ? message.phase : ''))).toEqual([
    'scanning',
    'uploading',
    'scanning',
  ]);
});

test('the first 1,000 problems are told and all are counted', () => {
  for (let i = 0; i < 1_500; i += 1) report.problem({ path: `/${i}`, code: 'EACCES', message: '' });
  expect(sent).toHaveLength(1_000);
  expect(report.problems).toBe(1_500);
});
