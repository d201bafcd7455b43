/** After the snapshot of a job: what snapshots need stays protected. */
import { isAbort } from '../base/errors.ts';
import { extendProtection, protectionWarning } from '../repository/protection.ts';
import type { JobParts } from './job-parts.ts';

/** The job has its snapshot: what goes wrong here is told in its log. */
export async function keepProtected({ place, report }: JobParts, signal: AbortSignal): Promise<void> {
  try {
    const protection = await extendProtection(place.cached, signal);
    const warning = protection && protectionWarning(protection);
    if (warning !== undefined) report.note(warning);
  } catch (error) {
    if (!isAbort(error)) throw error;
    report.note('The snapshot is made. The next backup goes on with protecting what it needs.');
  }
}
