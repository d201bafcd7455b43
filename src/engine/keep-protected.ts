/** After a job has made its snapshot: extends the protection of the objects that snapshots need. */
import { isAbort } from '../base/errors.ts';
import { extendProtection, protectionWarning } from '../repository/protection.ts';
import type { JobParts } from './job-parts.ts';

/** Errors are only noted in the log, as the job already has its snapshot. */
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
