/** How the program is called in what the agent says: it is read in any terminal, which need not have the agent's environment. */
import { join } from 'node:path';
import { programForAgent } from '../../base/holdfast-command.ts';
import { NAMED_BY, programForSudo, type Environment } from '../../base/program-call.ts';
import { quoted } from '../../base/shell-words.ts';
import { userName } from '../../base/user-name.ts';
import { layoutOf } from '../install/plan.ts';
import { statePaths } from '../command/state-directory.ts';

/** The user of the service of the machine: nobody signs in as it. */
const SERVICE_USER = 'holdfast';

export interface ProgramOfAgent {
  readonly own: string;
  /** Without the places of one person. */
  readonly forAnybody: string;
}

/** @param config the file with its settings */
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

/** Root's commands find the service of the machine by themselves. */
function stateOfMachine(env: Environment): string {
  return layoutOf('system', env, 'linux').state;
}

function usualState(env: Environment): string | undefined {
  try {
    return statePaths({ ...env, HOLDFAST_STATE_DIR: undefined }).directory;
  } catch {
    // Without a home there is no usual place.
    return undefined;
  }
}
