/** Reads what a child process prints for as long as anything may print: a program whose pipe is closed dies when it prints. */
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { openOutputPipe } from '../system/output-pipe.ts';

export interface ChildOutput {
  /** Resolves when no more output can come, neither from the child nor from processes that it started. */
  readonly ended: Promise<void>;
  /** From now on output is read and dropped, and does not keep this process alive. */
  drop(): void;
}

/** Spawns a child and collects its output and errors, in the order in which they were printed where the system supports that. */
export function collectOutput(
  take: (bytes: Buffer) => void,
  spawn: (stdout: number | 'pipe', stderr: number | 'pipe') => ChildProcess,
): readonly [ChildProcess, ChildOutput] {
  let taking = take;
  const pipe = openOutputPipe((bytes) => taking(bytes));
  const dropping = (unref: () => void) => (): void => {
    taking = () => undefined;
    unref();
  };
  if (pipe === undefined) {
    const child = spawn('pipe', 'pipe');
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    for (const stream of streams) {
      stream.on('data', (bytes: Buffer) => taking(bytes));
      stream.on('error', () => undefined);
    }
    const closed = streams.map(async (stream) => {
      await new Promise<void>((resolve) => stream.on('close', () => resolve()));
    });
    const unref = (): void => {
      for (const stream of streams) if (stream instanceof Socket) stream.unref();
    };
    return [child, { ended: Promise.all(closed).then(() => undefined), drop: dropping(unref) }];
  }
  try {
    return [spawn(pipe.writeFd, pipe.writeFd), { ended: pipe.ended, drop: dropping(() => pipe.unref()) }];
  } finally {
    closeSync(pipe.writeFd);
  }
}
