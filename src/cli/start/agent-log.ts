/**
 * The agent's log file: JSON lines, the older half put aside when it has grown. Whoever says something in it is busy
 * with something else, most often an error: what goes wrong with the log itself is noted in it later, never thrown.
 */
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { errnoOf } from '../../base/errors.ts';
import { agentLogPath, olderLogPath } from '../../daemon/state/agent-log-end.ts';

const LARGEST = 10 * 1024 * 1024;
/** Bytes after which it is tried again to put the older half aside. */
const ROTATE_AGAIN = 1024 * 1024;

export interface AgentLog extends Disposable {
  /** Never throws. */
  write(line: string): void;
}

/**
 * @param also sees every line too, as where a service manager collects what is printed
 * @throws when the file cannot be opened
 */
export function openAgentLog(
  stateDirectory: string,
  also: ((line: string) => void) | undefined,
  clock: Pick<Clock, 'now'>,
): AgentLog {
  const path = agentLogPath(stateDirectory);
  let size = sizeOf(path);
  let rotateAbove = LARGEST;
  let file = openSync(path, 'a', 0o600);
  /** Lines that could not be written since the last one that could. */
  let lost = 0;
  /** The file ends in a part of a line. */
  let torn = false;

  const append = (text: string): void => {
    const bytes = Buffer.from(torn ? `\n${text}` : text);
    for (let at = 0; at < bytes.length;) {
      const written = writeSync(file, bytes, at);
      at += written;
      size += written;
      torn = at < bytes.length;
    }
  };
  const rotate = (): void => {
    try {
      renameIfThere(path, olderLogPath(stateDirectory));
      const next = openSync(path, 'a', 0o600);
      const before = file;
      [file, size, rotateAbove, torn] = [next, 0, LARGEST, false];
      closeSync(before);
    } catch {
      // The file that is open still takes lines, whatever its name is now.
      rotateAbove = size + ROTATE_AGAIN;
    }
  };
  return {
    write(line) {
      try {
        if (size > rotateAbove) rotate();
        append(lost === 0 ? line : `${lossLine(lost, clock.now())}${line}`);
        lost = 0;
      } catch {
        lost += 1;
      }
      also?.(line);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

function renameIfThere(path: string, to: string): void {
  try {
    renameSync(path, to);
  } catch (error) {
    // Somebody took it away.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** As pino writes a warning. */
function lossLine(lines: number, nowMs: number): string {
  const msg = `${lines} ${lines === 1 ? 'line' : 'lines'} of this log could not be written`;
  return `${JSON.stringify({ level: 40, time: new Date(nowMs).toISOString(), msg })}\n`;
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
