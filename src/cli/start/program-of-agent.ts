/** How messages of the agent call the program: they are read in any terminal, which need not have the agent's environment. */
import { join } from 'node:path';
import { programForAgent } from '../../base/holdfast-command.ts';
import { NAMED_BY, programForSudo, type Environment } from '../../base/program-call.ts';
import { quoted } from '../../base/shell-words.ts';
import { userName } from '../../base/user-name.ts';
import { layoutOf } from '../install/plan.ts';
import { statePaths } from '../command/state-directory.ts';

/** The user of the machine's service, as which nobody signs in. */
const SERVICE_USER = 'holdfast';

export interface ProgramOfAgent {
  readonly own: string;
  /** Without one person's paths, for messages whose reader is unknown. */
  readonly forAnybody: string;
}

/** @param config the path of the agent's configuration */
export function programOfAgent(config: string, env: Environment): ProgramOfAgent {
  const { directory } = statePaths(env);
  const isNamed = (env[NAMED_BY] ?? '') !== '';
  if (process.platform === 'linux' && !isNamed && directory === stateOfMachine(env)) {
    const sudo = ['sudo', ...programForSudo()].map(quoted).join(' ');
    return { own: sudo, forAnybody: sudo };
  }
  const user = process.platform === 'linux' && userName() === SERVICE_USER ? SERVICE_USER : undefined;
  const variables = {
    ...(directory === usualState(env) ? {} : { HOLDFAST_STATE_DIR: directory }),
    ...(config === join(directory, 'config.json') ? {} : { HOLDFAST_CONFIG: config }),
  };
  const own = programForAgent({ variables, user }, env);
  return { own, forAnybody: user === undefined ? programForAgent({ variables: {}, user }, env) : own };
}

/** The state directory of the machine's service, which root's commands find automatically. */
function stateOfMachine(env: Environment): string {
  return layoutOf('system', env, 'linux').state;
}

function usualState(env: Environment): string | undefined {
  try {
    return statePaths({ ...env, HOLDFAST_STATE_DIR: undefined }).directory;
  } catch {
    // Without a home directory there is no usual place.
    return undefined;
  }
}
