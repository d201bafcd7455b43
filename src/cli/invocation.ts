/** How the person runs this program, for commands that are to be typed next. */
import { basename, relative } from 'node:path';
import type { Environment } from './terminal.ts';

/** Whether this is `npm start -- …` in this package's own folder. */
function isNpmStart(env: Environment): boolean {
  return env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'holdfast';
}

/** Where the Debian package has the program; its command is `holdfast`. */
const PACKAGED = '/usr/lib/holdfast/';

/**
 * `npm start --` below npm, `holdfast` where it is installed, else the launcher by its path.
 * @param workingDirectory of whoever types the command next; undefined when it is not known
 */
export function invocation(
  env: Environment,
  script: string | undefined,
  workingDirectory: string | undefined,
): string {
  if (isNpmStart(env)) return 'npm start --';
  if (script === undefined || basename(script) === 'holdfast' || script.startsWith(PACKAGED))
    return 'holdfast';
  const path = workingDirectory === undefined ? '..' : relative(workingDirectory, script);
  return `node ${quoted(path.startsWith('..') ? script : path)}`;
}

/** The same for sudo, which looks for programs in places of its own: what is not packaged is named by its path. */
export function rootInvocation(script: string | undefined): readonly string[] {
  return script === undefined || script.startsWith(PACKAGED) ? ['holdfast'] : [process.execPath, script];
}

/** Where the person typed the command, if that is not the working directory: npm changes to its package's folder. */
export function typedDirectory(env: Environment): string | undefined {
  return isNpmStart(env) ? env['INIT_CWD'] : undefined;
}

/** For a shell; what needs no quotes stays as it is. */
export function quoted(text: string): string {
  return /^[\w./@%+=:,~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
