/** What every snapshot made on this machine records about its origin. */
import { hostname } from 'node:os';
import { toolName } from '../base/program-version.ts';
import { userName } from '../base/user-name.ts';

export interface MadeHere {
  readonly host: string;
  readonly user: string;
  readonly tool: string;
}

export function madeHere(): MadeHere {
  return { host: hostname(), user: userName(), tool: toolName() };
}
