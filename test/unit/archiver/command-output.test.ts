// Turn 4 of 8.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { commandOutput } from '../../../src/archiver/command-output.ts';

const isLinux = process.platform === 'linux';
const sh = (script: string): readonly [string, ...string[]] => ['/bin/sh', '-c', script];
const { signal: quiet } = new AbortController();

async function textOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of output) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Whether a process has this number and waits for nobody to take notice of its end. */
function runs(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  while (pids.some(runs)) await sleep(10);
}

test('all that a command prints', async () => {
  expect(await textOf(commandOutput(sh('echo one; echo two'), quiet))).toBe('one\ntwo\n');
});

test('a command that fails, that a signal ends, or that cannot be started', async () => {
  await expect(textOf(commandOutput(sh('echo x; exit 3'), quiet))).rejects.toThrow('ended with exit code 3');
  await expect(textOf(commandOutput(sh('echo x; kill -9 $$'), quiet))).rejects.toThrow('ended with SIGKILL');
  await expect(textOf(commandOutput(['/nothing/there'], quiet))).rejects.toThrow('could not be started');
});

test('a command that fails does so at once, also when what it left running holds its output', async () => {
  await expect(textOf(commandOutput(sh('sleep 20 2>/dev/null & echo x; exit 4'), quiet))).rejects.toThrow(
    'exit code 4',
  );
});

test('what a command left running, and says no more, is not waited for without end', async () => {
  await expect(textOf(commandOutput(sh('sleep 20 2>/dev/null & echo x'), quiet, 100))).rejects.toThrow(
    'keeps its output open',
  );
});

test('who takes the output slowly is no reason to end', async () => {
  const output = commandOutput(sh('head -c 300000 /dev/zero'), quiet, 50);
  let size = 0;
  for await (const piece of output) {
    size += piece.length;
    await sleep(80);
  }
  expect(size).toBe(300_000);
});

test.runIf(isLinux)(
  'at the abort a silent command is ended with all it started, also against its will',
  async () => {
    const stop = new AbortController();
    const script = `trap '' TERM; sh -c "trap '' TERM; echo \\$\\$; sleep 30; sleep 30" & echo $$; wait; sleep 30`;
    const output = commandOutput(sh(script), stop.signal);
    const pids: number[] = [];
    const reading = (async () => {
      let text = '';
      for await (const piece of output) {
        text += Buffer.from(piece).toString();
        if (text.split('\n').length < 3) continue;
        pids.push(...text.trim().split('\n').map(Number));
        stop.abort(new Error('the destination is full'));
      }
    })();
    await expect(reading).rejects.toThrow('the destination is full');
    expect(pids).toHaveLength(2);
    await untilGone(pids);
  },
);

test.runIf(isLinux)('who takes no more output ends the command', async () => {
  const output = commandOutput(sh('echo $$; exec sleep 30'), quiet);
  let pid = 0;
  for await (const piece of output) {
    pid = Number(Buffer.from(piece).toString());
    break;
  }
  await untilGone([pid]);
});
