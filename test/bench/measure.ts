/**
 * Runs exactly one command and prints, as one JSON object, what it took:
 * `node measure.ts --timeout SECONDS --output FILE [--cwd DIR] -- COMMAND [ARGUMENT…]`.
 *
 * Processor time and the largest process come from getrusage(RUSAGE_CHILDREN) of this process, which has no other
 * child; that is exact. The size of the whole process tree is sampled. When standard input ends, because the caller
 * is gone, the command is ended too.
 */

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { resourceUsage } from '../support/libc.ts';

/** What measure.ts prints. */
export interface Measurement {
  readonly wallSeconds: number;
  readonly userSeconds: number;
  readonly systemSeconds: number;
  /** Peak resident size of the largest process. */
  readonly largestProcessBytes: number;
  /** False when that peak is a sampled value, a few milliseconds old at worst. */
  readonly largestProcessExact: boolean;
  /** Peak of the summed resident sizes of all processes, at least the above. */
  readonly treeBytes: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
}

/** Milliseconds between samples; closer together during the first tenth of a second, for short commands. */
const [earlyInterval, interval] = [2, 20];

interface Sample {
  readonly residentBytes: number;
  readonly largestPeakBytes: number;
}

/** Sizes of a process and its descendants from /proc; zeros where there is no /proc or they have ended. */
function sampleTree(root: number): Sample {
  let [residentBytes, largestPeakBytes] = [0, 0];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      residentBytes += kibibytes(status, 'VmRSS');
      largestPeakBytes = Math.max(largestPeakBytes, kibibytes(status, 'VmHWM'));
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1');
        for (const child of children.split(' ')) if (child !== '') waiting.push(Number(child));
      }
    } catch {
      // A process may end between two of these reads; its peak is in getrusage then.
    }
  }
  return { residentBytes, largestPeakBytes };
}

function kibibytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

interface Request {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly timeoutSeconds: number;
  readonly output: string;
  readonly cwd: string;
}

async function measure(request: Request): Promise<Measurement> {
  const output = openSync(request.output, 'w');
  // A new process inherits the peak of the one that started it until it has its own program (Linux sets the figure in
  // exec), so a reading not clearly above our own peak says nothing, and the samples decide.
  const inherited = resourceUsage('self').largestProcessBytes + 8 * 2 ** 20;
  const started = process.hrtime.bigint();
  const child = spawn(request.command, request.parameters, {
    stdio: ['ignore', output, output],
    cwd: request.cwd,
    detached: true,
  });
  closeSync(output);
  let peak: Sample = { residentBytes: 0, largestPeakBytes: 0 };
  let timedOut = false;
  const { pid } = child;
  const sample = (): void => {
    if (pid === undefined) return;
    const now = sampleTree(pid);
    peak = {
      residentBytes: Math.max(peak.residentBytes, now.residentBytes),
      largestPeakBytes: Math.max(peak.largestPeakBytes, now.largestPeakBytes),
    };
    const early = process.hrtime.bigint() - started < 100_000_000n;
    sampler = setTimeout(sample, early ? earlyInterval : interval);
  };
  let sampler = setTimeout(sample, earlyInterval);
  // The command leads a process group of its own, so this reaches what it started and nothing else.
  const kill = (): void => {
    if (pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-pid, 'SIGKILL');
  };
  const deadline = setTimeout(() => {
    timedOut = true;
    kill();
  }, request.timeoutSeconds * 1000);
  process.stdin.resume().once('end', kill);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, kill);
  try {
    const end = await new Promise<Pick<Measurement, 'exitCode' | 'signal' | 'wallSeconds'>>(
      (resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (exitCode, signal) => {
          const wallSeconds = Number(process.hrtime.bigint() - started) / 1e9;
          resolve({ exitCode, signal, wallSeconds });
        });
      },
    );
    const used = resourceUsage('children');
    const largestProcessExact = used.largestProcessBytes > inherited;
    const largestProcessBytes = largestProcessExact ? used.largestProcessBytes : peak.largestPeakBytes;
    return {
      wallSeconds: end.wallSeconds,
      userSeconds: used.userSeconds,
      systemSeconds: used.systemSeconds,
      largestProcessBytes,
      largestProcessExact,
      treeBytes: Math.max(largestProcessBytes, peak.residentBytes),
      exitCode: end.exitCode,
      signal: end.signal,
      timedOut,
    };
  } finally {
    clearTimeout(sampler);
    clearTimeout(deadline);
    process.stdin.destroy();
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      timeout: { type: 'string', default: '600' },
      output: { type: 'string', default: '/dev/null' },
      cwd: { type: 'string', default: '.' },
    },
  });
  const [command, ...parameters] = positionals;
  const timeoutSeconds = Number(values.timeout);
  if (command === undefined || !(timeoutSeconds > 0)) {
    process.stderr.write('usage: measure.ts --timeout SECONDS --output FILE [--cwd DIR] -- COMMAND …\n');
    process.exitCode = 2;
    return;
  }
  const request = { command, parameters, timeoutSeconds, output: values.output, cwd: values.cwd };
  process.stdout.write(`${JSON.stringify(await measure(request))}\n`);
}

if (import.meta.main) await main();
