/** What every snapshot made here says of its making. */
import { hostname, userInfo } from 'node:os';
import { toolName } from '../base/program-version.ts';

export interface MadeHere {
  readonly host: string;
  readonly user: string;
  readonly tool: string;
}

export function madeHere(): MadeHere {
  return { host: hostname(), user: userName(), tool: toolName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry in the system's list, as in containers.
    return String(process.geteuid?.() ?? '');
  }
}
