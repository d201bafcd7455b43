/** The agent's log file: JSON lines, the older half put aside when it has grown. */
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { errnoOf } from '../base/errors.ts';
import { agentLogPath, olderLogPath } from '../daemon/agent-log-end.ts';

const LARGEST = 10 * 1024 * 1024;

export interface AgentLog extends Disposable {
  write(line: string): void;
}

/** @param also sees every line too, as where a service manager collects what is printed */
export function openAgentLog(stateDirectory: string, also: ((line: string) => void) | undefined): AgentLog {
  const path = agentLogPath(stateDirectory);
  let size = sizeOf(path);
  let file = openSync(path, 'a', 0o600);
  return {
    write(line) {
      if (size > LARGEST) {
        closeSync(file);
        renameSync(path, olderLogPath(stateDirectory));
        file = openSync(path, 'a', 0o600);
        size = 0;
      }
      size += writeSync(file, line);
      also?.(line);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
