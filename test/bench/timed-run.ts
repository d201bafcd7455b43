/** Running one command of a tool, measured by measure.ts in a process of its own. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import type { Measurement } from './measure.ts';

export interface Command {
  readonly program: string;
  readonly parameters: readonly string[];
  /** Added to the environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Exit codes that mean the work was done. */
  readonly success: readonly number[];
}

export interface RunLimits {
  readonly timeoutSeconds: number;
  /** Receives what the command prints. */
  readonly outputFile: string;
}

/** A command that did not do its work; the message carries the end of what it printed. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

const measureScript = path.join(import.meta.dirname, 'measure.ts');
/** Settings of the tools' own that must not leak in from the caller. */
const foreignSetting = /^(RESTIC|BORG|HOLDFAST)_/;

/** Runs the command to its end. Throws CommandFailed, or the signal's reason when aborted. */
export async function timedRun(
  command: Command,
  limits: RunLimits,
  signal: AbortSignal,
): Promise<Measurement> {
  signal.throwIfAborted();
  const inherited = Object.entries(process.env).filter(([name]) => !foreignSetting.test(name));
  const helper = spawn(
    process.execPath,
    [
      measureScript,
      `--timeout=${limits.timeoutSeconds}`,
      `--output=${limits.outputFile}`,
      `--cwd=${command.cwd ?? '.'}`,
      '--',
      command.program,
      ...command.parameters,
    ],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...Object.fromEntries(inherited), ...command.environment },
      // The helper ends its command when its input ends; a Ctrl-C reaches us alone.
      detached: true,
    },
  );
  const printed: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    helper[stream].setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
    });
  const stop = (): void => {
    helper.stdin.end();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    await once(helper, 'close');
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  if (printed.stdout === '') throw new CommandFailed(`not started: ${printed.stderr.trim().slice(-500)}`);
  const measured: Measurement = JSON.parse(printed.stdout);
  if (measured.timedOut) throw new CommandFailed(`ended after ${limits.timeoutSeconds} s`);
  if (measured.exitCode === null || !command.success.includes(measured.exitCode))
    throw new CommandFailed(
      `${path.basename(command.program)} ${command.parameters.slice(0, 3).join(' ')} ended with ` +
        `${measured.signal ?? `exit code ${measured.exitCode}`}: ${lastLines(limits.outputFile)}`,
    );
  return measured;
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trim().slice(-500).replaceAll(/\s+/g, ' ');
}
