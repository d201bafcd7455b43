/** After a backup, extends the protection of what snapshots need against deletion. */
import { extendProtection, protectionWarning } from '../../repository/protection.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import { printable } from '../terminal/terminal.ts';

/** The snapshot is complete by then, so what cannot be protected is only warned of. */
export async function protect(repository: Repository, context: Context): Promise<void> {
  context.outcome = 'The snapshot is made. The next backup goes on with protecting what it needs.';
  const protection = await extendProtection(repository, context.signal);
  const warning = protection && protectionWarning(protection);
  if (warning !== undefined) context.stderr.write(`Warning: ${printable(warning)}\n`);
}
