/** Tells whether this process is root's, or acts for root as the user of the machine's service (install/machine-agent.ts). */
import type { Environment } from '../../base/program-call.ts';

/** Environment variable that marks a process which acts for the service. */
export const ACTING = 'HOLDFAST_ACTING';

export function actsForService(env: Environment): boolean {
  return env[ACTING] !== undefined;
}

export function mayActForService(env: Environment): boolean {
  return process.platform === 'linux' && (actsForService(env) || process.geteuid?.() === 0);
}
