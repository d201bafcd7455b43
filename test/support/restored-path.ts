/** Where a restore puts files. */
import { join } from 'node:path';

/** The place of a source below the target: a path of Windows has its drive as the first folder there. */
export function restoredPath(target: string, source: string, ...below: readonly string[]): string {
  return join(target, source.replace(/^([A-Za-z]):/, '$1'), ...below);
}
