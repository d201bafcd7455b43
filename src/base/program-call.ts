/** How this installation is called, by rules alone: what a command has to begin with where somebody reads it. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoted, quotedOnWindows } from './shell-words.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is installed, and what the disk says of other places. */
export interface Installation {
  /** The folder of the program, without links. */
  readonly root: string;
  /** The Node.js that runs it. */
  readonly runtime: string;
  readonly platform: NodeJS.Platform;
  /** Where a path leads; undefined where nothing is that may be run. */
  readonly lookUp: (path: string) => string | undefined;
}

/** `terminal`: whoever typed the command, still in `directory`. `anywhere`: any terminal, at any time. */
export type Reader = { readonly at: 'terminal'; readonly directory: string } | { readonly at: 'anywhere' };

/** The folder above the compiled program, and above the sources where these are run. */
export const HERE: Installation = {
  root: fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, ''),
  runtime: process.execPath,
  platform: process.platform,
  lookUp(path) {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile() ? realpathSync(path) : undefined;
    } catch {
      return undefined;
    }
  },
};

/** Says how it is called, for a wrapper, an alias or a container that the program cannot know of. */
export const NAMED_BY = 'HOLDFAST_PROGRAM';

/** Where the Debian package has the program; its command is `holdfast`. */
const PACKAGED = '/usr/lib/holdfast';

/** What a command begins with that is typed next: text for a shell. */
export function programFor(reader: Reader, env: Environment, installation: Installation = HERE): string {
  const named = env[NAMED_BY] ?? '';
  if (named !== '') return named;
  if (reader.at === 'terminal') {
    if (isNpmStart(env) && env['INIT_CWD'] === installation.root) return NPM_START;
    if (isNpx(env)) return 'npx holdfast';
  }
  if (isPackaged(installation) || isOnPath(env, installation)) return 'holdfast';
  const { runtime, platform } = installation;
  const node = findOnPath(platform === 'win32' ? 'node.exe' : 'node', env, installation);
  const launcher = launcherOf(installation);
  const near = reader.at === 'terminal' ? relative(reader.directory, launcher) : launcher;
  const isBelow = !isAbsolute(near) && !near.startsWith('..');
  const words = [node === undefined ? runtime : 'node', isBelow ? near : launcher];
  return words.map(platform === 'win32' ? quotedOnWindows : quoted).join(' ');
}

/** Its words behind sudo, which looks for programs in places of its own: what is not packaged is named by its paths. */
export function programForSudo(installation: Installation = HERE): readonly string[] {
  return isPackaged(installation) ? ['holdfast'] : [installation.runtime, launcherOf(installation)];
}

const NPM_START = 'npm start --';

/** `npm start` gives its words to `start`, which runs another command when the first of them is one. */
export function withProgram(program: string, words: string): string {
  if (program !== NPM_START) return `${program} ${words}`;
  if (words === 'start') return 'npm start';
  return `${NPM_START} ${words.replace(/^start /, '')}`;
}

/** Where the person typed the command, if that is not the working directory: npm changes to its package's folder. */
export function typedDirectory(env: Environment): string | undefined {
  return isNpmStart(env) ? env['INIT_CWD'] : undefined;
}

/** Whether this is `npm start -- …` of this package. */
function isNpmStart(env: Environment): boolean {
  return env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'holdfast';
}

/** Whether npx, or `npm exec`, runs this program, and not one that runs it in turn. */
function isNpx(env: Environment): boolean {
  return (
    env['npm_lifecycle_event'] === 'npx' &&
    /^["']?holdfast(?![^"'\s])/.test(env['npm_lifecycle_script'] ?? '')
  );
}

function isPackaged({ root }: Installation): boolean {
  return root === PACKAGED;
}

/** The file that starts it. */
export function launcherOf({ root }: Installation): string {
  return join(root, 'service', 'bin', 'holdfast.js');
}

/** Whether the first `holdfast` that a shell finds is this installation. */
function isOnPath(env: Environment, installation: Installation): boolean {
  const launcher = launcherOf(installation);
  if (installation.platform !== 'win32') return findOnPath('holdfast', env, installation) === launcher;
  // npm puts a script beside the packages there.
  const script = findOnPath('holdfast.cmd', env, installation);
  const beside = script === undefined ? '' : join(script, '..', 'node_modules', 'holdfast');
  return script !== undefined && join(beside, 'service', 'bin', 'holdfast.js') === launcher;
}

function findOnPath(name: string, env: Environment, { lookUp }: Installation): string | undefined {
  for (const directory of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (!isAbsolute(directory) || isOfNpm(directory)) continue;
    const found = lookUp(join(directory, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** npm puts these before the path of what it runs: no terminal has them. */
function isOfNpm(directory: string): boolean {
  return directory.endsWith(join('node_modules', '.bin')) || directory.includes(`${sep}node-gyp-bin`);
}
