import { describe, expect, it } from 'vitest';

import { createProgress } from '../../../src/cli/terminal/progress.ts';
import type { Progress, ProgressCounters, ProgressMode } from '../../../src/cli/terminal/progress.ts';
import type { OutputStream } from '../../../src/cli/terminal/terminal.ts';
import { createFakeTerminal } from '../../support/fake-terminal.ts';

const MIB = 1024 * 1024;

/** A clock that is moved by hand, and timers that run by it. */
function createHandClock() {
  let time = 0;
  const timers = new Set<{ readonly ms: number; next: number; readonly tick: () => void }>();
  return {
    now: () => time,
    every(this: void, ms: number, tick: () => void) {
      const timer = { ms, next: time + ms, tick };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get timers() {
      return timers.size;
    },
    pass(ms: number) {
      for (const end = time + ms; time < end; time += 1) {
        for (const timer of timers) {
          if (timer.next > time) continue;
          timer.next += timer.ms;
          timer.tick();
        }
      }
    },
  };
}

function counters(facts: Partial<ProgressCounters> = {}): ProgressCounters {
  return {
    phase: 'uploading',
    filesDone: 0,
    filesTotal: 100,
    bytesDone: 0,
    bytesTotal: 1000 * MIB,
    errors: 0,
    ...facts,
  };
}

function start(mode: ProgressMode, columns = 120) {
  const clock = createHandClock();
  const terminal = createFakeTerminal(columns);
  const written: string[] = [];
  const stream: OutputStream =
    mode === 'terminal' ? terminal : { write: (text: string) => written.push(text) };
  const progress = createProgress({ stream, mode, now: clock.now, every: clock.every, verb: 'Backing up' });
  return { clock, terminal, written, progress };
}

/** Works on at an even rate, with an update every 50 ms, and stays for 100 ms until all is drawn. */
function work(
  progress: Progress,
  clock: ReturnType<typeof createHandClock>,
  from: number,
  to: number,
  seconds: number,
  facts: Partial<ProgressCounters> = {},
) {
  const steps = seconds * 20;
  for (let step = 1; step <= steps; step += 1) {
    clock.pass(50);
    progress.update(counters({ ...facts, bytesDone: from + ((to - from) * step) / steps }));
  }
  clock.pass(50);
  progress.update(counters({ ...facts, bytesDone: to }));
}

describe('on a terminal', () => {
  it('shows percent, sizes, files, stored bytes, rate, time left, errors and the path', () => {
    const { clock, terminal, progress } = start('terminal', 160);
    const facts = { filesTotal: 12_345, bytesStored: 5 * MIB, errors: 2, currentPath: '/home/ann/notes.txt' };
    work(progress, clock, 0, 410 * MIB, 41, { ...facts, filesDone: 1041 });
    expect(terminal.screen()).toEqual([
      'Backing up: uploading  [########............]   41%  410.0 MiB / 1000.0 MiB  1,041 / 12,345 files  5.0 MiB stored  10.0 MiB/s  59s left  2 errors',
      '  /home/ann/notes.txt',
    ]);
    expect(terminal.cursor).toEqual({ row: 0, column: 0 });
  });

  it('says "estimating" while the total is unknown', () => {
    const { clock, terminal, progress } = start('terminal');
    progress.update(
      counters({ phase: 'scanning', filesTotal: null, bytesTotal: null, filesDone: 7, bytesDone: 512 }),
    );
    clock.pass(5000);
    expect(terminal.screen()).toEqual(['Backing up: scanning  512 B  7 files  0 B/s  estimating']);
  });

  it('counts percent by files where there are no bytes, and shows 100 only when all is done', () => {
    const { clock, terminal, progress } = start('terminal');
    progress.update(counters({ filesDone: 3, filesTotal: 4, bytesTotal: 0 }));
    expect(terminal.screen()[0]).toContain('  75%');
    clock.pass(1000);
    progress.update(counters({ bytesDone: 1000 * MIB - 1 }));
    expect(terminal.screen()[0]).toContain('  99%');
    clock.pass(1000);
    progress.update(counters({ bytesDone: 1200 * MIB }));
    expect(terminal.screen()[0]).toContain(' 100%');
  });

  it('names no time left before there is a ground for it, nor when nothing moves any more', () => {
    const { clock, terminal, progress } = start('terminal');
    progress.update(counters());
    work(progress, clock, 0, 20 * MIB, 2);
    expect(terminal.screen()[0]).not.toContain('left');
    work(progress, clock, 20 * MIB, 100 * MIB, 8);
    expect(terminal.screen()[0]).toContain('left');
    clock.pass(21_000);
    expect(terminal.screen()[0]).not.toContain('left');
  });

  it('lets the rate fall while no update comes', () => {
    const { clock, terminal, progress } = start('terminal');
    work(progress, clock, 0, 600 * MIB, 60);
    const rate = () => Number(/([\d.]+) MiB\/s/.exec(terminal.screen()[0] ?? '')?.[1]);
    expect(rate()).toBeCloseTo(10, 0);
    clock.pass(15_000);
    expect(rate()).toBeGreaterThan(3);
    expect(rate()).toBeLessThan(4.5);
  });

  it('draws at most 10 times a second, and the last update soon', () => {
    const { clock, terminal, progress } = start('terminal');
    for (let ms = 0; ms < 3000; ms += 1) {
      progress.update(counters({ filesDone: ms }));
      clock.pass(1);
    }
    expect(terminal.writes).toBeLessThanOrEqual(30);
    expect(terminal.writes).toBeGreaterThan(25);
    clock.pass(300);
    expect(terminal.screen()[0]).toContain('2,999 / 100 files');
  });

  it.each([10, 20, 39, 60, 80, 81, 200])('never takes more than its two rows in %i columns', (columns) => {
    const { clock, terminal, progress } = start('terminal', columns);
    const currentPath = `/srv/${'very/'.repeat(60)}日本語/the-end.txt`;
    for (let second = 0; second < 10; second += 1) {
      progress.update(counters({ bytesDone: second * MIB, bytesStored: second, errors: 1234, currentPath }));
      clock.pass(1000);
    }
    expect(terminal.screen()).toHaveLength(2);
    expect(terminal.screen()[0]).toMatch(/^Backing/);
    expect(terminal.screen()[1]?.endsWith(columns < 20 ? '.txt' : 'the-end.txt')).toBe(true);
  });

  it('leaves nothing of longer rows when they become shorter', () => {
    const { clock, terminal, progress } = start('terminal');
    progress.update(counters({ filesDone: 1_000_000, bytesStored: 1, currentPath: '/a/long/path' }));
    clock.pass(200);
    progress.update(counters({ phase: 'check', currentPath: '/b' }));
    expect(terminal.screen()).toEqual([
      'Backing up: check  [....................]    0%  0 B / 1000.0 MiB  0 / 100 files',
      '  /b',
    ]);
    clock.pass(200);
    progress.update(counters({ phase: 'check', currentPath: '' }));
    expect(terminal.screen()).toHaveLength(1);
  });

  it('leaves out what matters least on a narrow terminal', () => {
    const { clock, terminal, progress } = start('terminal', 60);
    work(progress, clock, 0, 100 * MIB, 10);
    expect(terminal.screen()[0]).toBe('Backing up: uploading   10%  100.0 MiB / 1000.0 MiB');
  });

  it('shows hostile names without letting them act', () => {
    const { clock, terminal, progress } = start('terminal');
    for (const currentPath of [
      '\u001b[2J\u001b]0;owned\u0007',
      'a\nb\rc',
      '\u202etxt.exe',
      '\u009b31m',
      '\u{d800}',
    ]) {
      progress.update(counters({ currentPath }));
      clock.pass(1000);
      expect(terminal.screen()).toHaveLength(2);
    }
    progress.note('could not read \u001b[31m\nred');
    expect(terminal.screen()).toEqual(['could not read \\x1b[31m\\nred']);
  });

  it('puts notes above the progress, and draws no more often for them', () => {
    const { clock, terminal, progress } = start('terminal');
    progress.update(counters({ currentPath: '/a' }));
    clock.pass(1000);
    const before = terminal.writes;
    for (let n = 0; n < 50; n += 1) {
      progress.note(`note ${n}`);
      progress.update(counters({ filesDone: n }));
    }
    // 50 notes, one clearing before each drawn state, and one redraw that was due.
    expect(terminal.writes - before).toBeLessThanOrEqual(53);
    clock.pass(300);
    expect(terminal.screen().slice(48, 50)).toEqual(['note 48', 'note 49']);
    expect(terminal.screen()[50]).toContain('49 / 100 files');
  });

  it.each([true, false])('leaves nothing behind when the width changes (reflow: %s)', (reflow) => {
    const { clock, terminal, progress } = start('terminal', 150);
    terminal.write('$ holdfast backup\n');
    for (const columns of [149, 60, 33, 140, 20, 80]) {
      work(progress, clock, 0, 10 * MIB, 4);
      progress.update(counters({ bytesDone: 10 * MIB, currentPath: '/srv/'.repeat(40) }));
      clock.pass(500);
      terminal.resize(columns, { reflow });
      clock.pass(500);
      expect(terminal.screen()).toHaveLength(3);
      expect(terminal.screen()[0]).toBe('$ holdfast backup'.slice(0, columns));
    }
  });

  it('clears its rows and lets go of timer and listener at the end', () => {
    const { clock, terminal, progress } = start('terminal');
    terminal.write('before\n');
    progress.update(counters({ currentPath: '/a' }));
    expect(terminal.screen()).toHaveLength(3);
    expect([clock.timers, terminal.resizeListeners]).toEqual([1, 1]);
    progress.finish();
    progress.finish();
    expect(terminal.screen()).toEqual(['before']);
    expect([clock.timers, terminal.resizeListeners]).toEqual([0, 0]);
    clock.pass(1000);
    progress.update(counters({ filesDone: 9 }));
    expect(terminal.screen()).toEqual(['before']);
    progress.note('after');
    expect(terminal.screen()).toEqual(['before', 'after']);
  });

  it('draws one row where there are no more', () => {
    const { progress } = start('none');
    progress.finish();
    const terminal = createFakeTerminal(80);
    const low = Object.defineProperty(terminal, 'rows', { value: 2 });
    createProgress({
      stream: low,
      mode: 'terminal',
      now: () => 0,
      every: () => () => {},
      verb: 'Checking',
    }).update(counters({ currentPath: '/a' }));
    expect(terminal.screen()).toHaveLength(1);
  });
});

describe('in a log', () => {
  it('writes a plain line every 30 seconds, even when no update comes', () => {
    const { clock, written, progress } = start('plain');
    work(progress, clock, 0, 100 * MIB, 29);
    expect(written).toEqual([]);
    clock.pass(62_000);
    expect(written).toHaveLength(3);
    expect(written[0]).toMatch(
      /^Backing up: uploading {2}10% {2}100\.0 MiB \/ 1000\.0 MiB {2}0 \/ 100 files {2}3\.\d MiB\/s {2}4m\d*s? left\n$/,
    );
    progress.finish();
    clock.pass(60_000);
    expect(written).toHaveLength(3);
    expect(clock.timers).toBe(0);
  });

  it('has nothing but notes when it is quiet', () => {
    const { clock, written, progress } = start('none');
    progress.update(counters());
    clock.pass(100_000);
    progress.note('could not read /a');
    progress.finish();
    expect(written).toEqual(['could not read /a\n']);
  });
});

describe('as JSON', () => {
  it('writes one object a line, at most two a second and none without news', () => {
    const { clock, written, progress } = start('json');
    for (let ms = 0; ms < 4000; ms += 10) {
      progress.update(
        counters({ bytesDone: ms * 1000, filesDone: ms, bytesStored: 5, currentPath: '/a\u009b\u202e' }),
      );
      clock.pass(10);
    }
    expect(written).toHaveLength(8);
    clock.pass(1000);
    expect(written).toHaveLength(9);
    clock.pass(60_000);
    expect(written).toHaveLength(9);
    const last: Record<string, unknown> = JSON.parse(written[8] ?? '');
    expect(last['rate_bytes_per_second']).toBeCloseTo(1_000_000, -5);
    expect(last['eta_seconds']).toBeCloseTo(1045, -2);
    expect(last).toMatchObject({
      type: 'progress',
      phase: 'uploading',
      percent: 0,
      files_done: 3990,
      files_total: 100,
      bytes_done: 3_990_000,
      bytes_total: 1000 * MIB,
      bytes_stored: 5,
      errors: 0,
      current_path: '/a\u009b\u202e',
    });
    expect(written.join('')).toMatch(/^[ -~\n]*$/);
    progress.finish();
    expect(clock.timers).toBe(0);
  });

  it('has null for what is unknown, and notes as objects of their own', () => {
    const { written, progress } = start('json');
    progress.note('two\nlines');
    progress.update(counters({ bytesTotal: null, filesTotal: null }));
    expect(written.map((line) => JSON.parse(line) as unknown)).toEqual([
      { type: 'note', text: 'two\nlines' },
      expect.objectContaining({
        percent: null,
        bytes_total: null,
        files_total: null,
        bytes_stored: null,
        rate_bytes_per_second: null,
        eta_seconds: null,
        current_path: null,
      }),
    ]);
  });
});

describe('what is waited for', () => {
  const wait = {
    code: 'asked_again',
    params: { whom: 'store', because: 'SlowDown', again_in_seconds: 16 },
  } as const;
  const text = 'waiting for the store (SlowDown), again in 16 s';

  function waitingIn(mode: ProgressMode) {
    const clock = createHandClock();
    const terminal = createFakeTerminal(120);
    const written: string[] = [];
    const stream: OutputStream =
      mode === 'terminal' ? terminal : { write: (text: string) => written.push(text) };
    let waits = true;
    const progress = createProgress({
      stream,
      mode,
      now: clock.now,
      every: clock.every,
      verb: 'Backing up',
      waiting: () => (waits ? wait : undefined),
    });
    return { clock, terminal, written, progress, goOn: () => (waits = false) };
  }

  it('stands in place of the path on a terminal, also before anything is counted', () => {
    const { clock, terminal, progress, goOn } = waitingIn('terminal');
    clock.pass(300);
    expect(terminal.screen().join('\n')).toContain(text);
    progress.update(counters({ currentPath: '/home/ann/notes.txt' }));
    clock.pass(300);
    expect(terminal.screen().join('\n')).not.toContain('notes.txt');
    goOn();
    clock.pass(600);
    expect(terminal.screen().join('\n')).toContain('notes.txt');
    progress.finish();
  });

  it('is a line now and then elsewhere', () => {
    const { clock, written, progress } = waitingIn('plain');
    clock.pass(21_500);
    progress.finish();
    expect(written).toEqual(Array.from({ length: 3 }, () => `Backing up: ${text}\n`));
  });

  it('is an object for programs', () => {
    const { clock, written, progress } = waitingIn('json');
    clock.pass(600);
    progress.finish();
    expect(written.map((line) => JSON.parse(line) as unknown)).toEqual([
      { type: 'waiting', text, reason: 'SlowDown', again_in_seconds: 16 },
    ]);
  });
});
