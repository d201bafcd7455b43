/** Connects an agent that the service manager of Windows has started to that manager. */
import type { ServiceHost } from '../../system/windows-control.ts';
import type { Context } from '../command/context.ts';

export type { ServiceHost } from '../../system/windows-control.ts';

/** Set by service/windows/service.js to the name of the service. */
const STARTED_AS = 'HOLDFAST_WINDOWS_SERVICE';

/** Undefined for an agent that somebody started in another way. */
export async function windowsService({ env, stderr }: Context): Promise<ServiceHost | undefined> {
  const name = env[STARTED_AS] ?? '';
  if (process.platform !== 'win32' || name === '') return undefined;
  const { connectToServiceManager, enableBackupPrivilege } = await import('../../system/windows-control.ts');
  const host = connectToServiceManager(
    name,
    // Ends the agent as Ctrl-C does.
    () => void process.emit('SIGTERM'),
    (error) => void stderr.write(`${error.message}\n${error.hint}\n`),
  );
  // Engines are children, and take it over. Without it the service reads what its account may read.
  enableBackupPrivilege();
  return host;
}
