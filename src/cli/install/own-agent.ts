/** Keeps users without an agent from writing settings that nothing reads, and points them to the service of the machine. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { statePaths } from '../command/state-directory.ts';
import type { Environment } from '../terminal/terminal.ts';
import { forMachineService } from './installed.ts';

/** @throws {RequestError} FORBIDDEN when the machine has a service and this user never had an agent */
export async function requireOwnAgent(env: Environment): Promise<void> {
  const isNamed = (env['HOLDFAST_STATE_DIR'] ?? '') !== '' || (env['HOLDFAST_CONFIG'] ?? '') !== '';
  if (isNamed || existsSync(join(statePaths(env).directory, 'state.db'))) return;
  const [, , ...words] = process.argv;
  const command = await forMachineService(words, env);
  if (command === undefined) return;
  throw new RequestError(
    'FORBIDDEN',
    'You run no agent of your own, and that of this machine is for root to change',
    {
      hint: `Run: ${command} (or begin with an agent of your own: ${holdfast`start --source DIR`})`,
    },
  );
}
