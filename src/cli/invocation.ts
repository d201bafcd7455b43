/** How the person runs this program, for commands that are to be typed next. */
import { basename, relative } from 'node:path';
import type { Environment } from './terminal.ts';

/** `npm start --` below npm, `holdfast` where it is installed, else the launcher by its path. */
export function invocation(env: Environment, script: string | undefined, workingDirectory: string): string {
  if (env['npm_lifecycle_event'] === 'start') return 'npm start --';
  if (script === undefined || basename(script) === 'holdfast') return 'holdfast';
  const path = relative(workingDirectory, script);
  return `node ${quoted(path.startsWith('..') ? script : path)}`;
}

/** Where a relative path that the person typed begins: npm changes to the folder of its package. */
export function typedDirectory(env: Environment, workingDirectory: string): string {
  return env['npm_lifecycle_event'] === undefined ? workingDirectory : (env['INIT_CWD'] ?? workingDirectory);
}

/** For a shell; what needs no quotes stays as it is. */
export function quoted(text: string): string {
  return /^[\w./@%+=:,~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
