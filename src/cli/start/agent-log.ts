/**
 * The agent's log file: JSON lines; a file that has grown large is put aside as the older half. Callers are busy with
 * something else, most often an error, so a failure of the log itself is never thrown but noted in the log later.
 */
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { errnoOf } from '../../base/errors.ts';
import { agentLogPath, olderLogPath } from '../../daemon/state/agent-log-end.ts';

const LARGEST = 10 * 1024 * 1024;
/** Bytes after which a failed rotation is tried again. */
const ROTATE_AGAIN = 1024 * 1024;

export interface AgentLog extends Disposable {
  /** Never throws. */
  write(line: string): void;
}

/**
 * @param also gets every line as well, such as for a service manager that collects output
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
  /** Lines lost since the last one that could be written. */
  let lost = 0;
  /** Whether the file ends with an incomplete line. */
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
      // The open file still takes lines, whatever its name is by then.
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
    // Somebody removed the file.
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

/** A line as pino writes a warning. */
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
