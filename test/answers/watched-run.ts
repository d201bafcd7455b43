/** One run of the real program at a terminal: what it says and when, what memory it takes, and how it ends. */
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

export interface WatchedRun {
  /** By the monotonic clock, in milliseconds. */
  readonly beganMs: number;
  readonly endedMs: number;
  readonly code: number | null;
  /** Largest resident sizes of all its own processes, in megabytes. */
  readonly peakMb: number;
  /** That of rclone, which is another program. */
  readonly rcloneMb: number;
  /** What changed on the screen, and when. */
  readonly words: readonly { readonly ms: number; readonly text: string }[];
  /** From Ctrl-C to its end; undefined when it had ended before. */
  readonly interruptMs: number | undefined;
}

export interface RunSettings {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Ctrl-C so many milliseconds after this gives a time; never without it. */
  readonly interruptAfter?: { readonly since: () => number | undefined; readonly ms: number };
  /** Ended by force then. */
  readonly atMostMs: number;
}

const SAMPLE_MS = 25;

/** A process and all that it started. */
function family(pid: number): readonly number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim().split(' '),
    );
    return [pid, ...children.filter((child) => child !== '').flatMap((child) => family(Number(child)))];
  } catch {
    return [];
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

export async function watchRun({
  words,
  env,
  cwd,
  interruptAfter,
  atMostMs,
}: RunSettings): Promise<WatchedRun> {
  const quoted = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  const beganMs = performance.now();
  const child = spawn('script', ['-qec', `exec ${quoted}`, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm', COLUMNS: '160' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said: { ms: number; text: string }[] = [];
  child.stdin.on('error', () => {});
  child.stdout.on('data', (bytes: Buffer) => {
    const text = stripVTControlCharacters(bytes.toString()).replaceAll('\r', '\n').replaceAll(/\n+/g, '\n');
    if (text.trim() !== '') said.push({ ms: performance.now(), text });
  });
  const peaks = new Map<number, number>();
  const ofRclone = new Set<number>();
  let interruptedMs: number | undefined;
  const timer = setInterval(() => {
    // The terminal itself is none of the program.
    for (const pid of family(child.pid ?? 0).slice(1)) {
      peaks.set(pid, Math.max(peaks.get(pid) ?? 0, peakOf(pid)));
      if (nameOf(pid) === 'rclone') ofRclone.add(pid);
    }
    const since = interruptAfter?.since();
    if (
      since !== undefined &&
      interruptedMs === undefined &&
      performance.now() - since > (interruptAfter?.ms ?? 0)
    ) {
      interruptedMs = performance.now();
      child.stdin.write('\u0003');
    }
    if (performance.now() - beganMs > atMostMs)
      for (const pid of family(child.pid ?? 0)) process.kill(pid, 'SIGKILL');
  }, SAMPLE_MS);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(timer);
  const endedMs = performance.now();
  const megabytes = (chosen: (pid: number) => boolean): number =>
    [...peaks].reduce((sum, [pid, peak]) => sum + (chosen(pid) ? peak : 0), 0) / 1e6;
  return {
    beganMs,
    endedMs,
    code,
    peakMb: megabytes((pid) => !ofRclone.has(pid)),
    rcloneMb: megabytes((pid) => ofRclone.has(pid)),
    words: said,
    interruptMs: interruptedMs === undefined ? undefined : endedMs - interruptedMs,
  };
}
