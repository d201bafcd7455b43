/**
 * Works out how this installation is called: the beginning of a command that works where it is read. Pure rules, with
 * all facts about the system passed in.
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoted, quotedOnWindows } from './shell-words.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The installation, and access to the disk for other places. */
export interface Installation {
  /** The folder of the program, with links resolved. */
  readonly root: string;
  /** The Node.js that runs it. */
  readonly runtime: string;
  readonly platform: NodeJS.Platform;
  /** The target of a path with links resolved; undefined where there is no executable file. */
  readonly lookUp: (path: string) => string | undefined;
}

/** `terminal`: the user who typed the command, still in `directory`. `anywhere`: any terminal, at any time. */
export type Reader = { readonly at: 'terminal'; readonly directory: string } | { readonly at: 'anywhere' };

/** The folder above the compiled program, which is also the one above the sources. */
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

/**
 * The variable that sets the program's name, for a wrapper, an alias or a container that the program cannot know about.
 */
export const NAMED_BY = 'HOLDFAST_PROGRAM';

/** The folder of the program in the Debian package, whose command is `holdfast`. */
const PACKAGED = '/usr/lib/holdfast';

/** What commands begin with for this reader: text for a shell. */
export function programFor(reader: Reader, env: Environment, installation: Installation = HERE): string {
  const named = env[NAMED_BY] ?? '';
  if (named !== '') return named;
  if (reader.at === 'terminal') {
    if (isNpmStart(env) && env['INIT_CWD'] === installation.root) return NPM_START;
    if (isNpx(env)) return 'npx holdfast';
  }
  if (isPackaged(installation) || isOnPath(env, installation)) return 'holdfast';
  const { runtime, platform } = installation;
  const unpacked = unpackedLauncher(installation);
  if (unpacked !== undefined) {
    const name = reader.at === 'terminal' ? relative(reader.directory, unpacked) : unpacked;
    const isHere = !isAbsolute(name) && !name.startsWith('..');
    if (platform === 'win32') return quotedOnWindows(isHere ? `.\\${name}` : unpacked);
    return quoted(isHere ? `./${name}` : unpacked);
  }
  const node = findOnPath(platform === 'win32' ? 'node.exe' : 'node', env, installation);
  const launcher = launcherOf(installation);
  const near = reader.at === 'terminal' ? relative(reader.directory, launcher) : launcher;
  const isBelow = !isAbsolute(near) && !near.startsWith('..');
  const words = [node === undefined ? runtime : 'node', isBelow ? near : launcher];
  return words.map(platform === 'win32' ? quotedOnWindows : quoted).join(' ');
}

/**
 * The program's words after sudo. As sudo searches a path of its own, a program that is not packaged is named by its
 * absolute path.
 */
export function programForSudo(installation: Installation = HERE): readonly string[] {
  return isPackaged(installation) ? ['holdfast'] : [installation.runtime, launcherOf(installation)];
}

const NPM_START = 'npm start --';

/**
 * Combines program and words. `npm start` passes its words to the command `start`, which runs another command when the
 * first word is one.
 */
export function withProgram(program: string, words: string): string {
  if (program !== NPM_START) return `${program} ${words}`;
  if (words === 'start') return 'npm start';
  return `${NPM_START} ${words.replace(/^start /, '')}`;
}

/**
 * The directory where the user typed the command, if that is not the working directory: npm changes to its package's
 * folder.
 */
export function typedDirectory(env: Environment): string | undefined {
  return isNpmStart(env) ? env['INIT_CWD'] : undefined;
}

/** Whether this is `npm start -- …` of this package. */
function isNpmStart(env: Environment): boolean {
  return env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'holdfast';
}

/** Whether npx or `npm exec` runs this program directly, and not another one that runs it in turn. */
function isNpx(env: Environment): boolean {
  return (
    env['npm_lifecycle_event'] === 'npx' &&
    /^["']?holdfast(?![^"'\s])/.test(env['npm_lifecycle_script'] ?? '')
  );
}

function isPackaged({ root }: Installation): boolean {
  return root === PACKAGED;
}

/** The script that starts the program. */
export function launcherOf({ root }: Installation): string {
  return join(root, 'service', 'bin', 'holdfast.js');
}

/** What starts the program in an archive that was unpacked: it lies above the runtime. */
function unpackedLauncher({ root, runtime, platform, lookUp }: Installation): string | undefined {
  if (dirname(dirname(runtime)) !== root) return undefined;
  return lookUp(join(root, platform === 'win32' ? 'holdfast.cmd' : 'holdfast'));
}

/** Whether the first `holdfast` that a shell finds is this installation. */
function isOnPath(env: Environment, installation: Installation): boolean {
  const launcher = launcherOf(installation);
  const unpacked = unpackedLauncher(installation);
  if (installation.platform !== 'win32') {
    const found = findOnPath('holdfast', env, installation);
    return found !== undefined && (found === launcher || found === unpacked);
  }
  // On Windows npm puts a script next to the global packages.
  const script = findOnPath('holdfast.cmd', env, installation);
  if (script !== undefined && script === unpacked) return true;
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

/** npm adds these directories to the path of what it runs; no terminal has them. */
function isOfNpm(directory: string): boolean {
  return directory.endsWith(join('node_modules', '.bin')) || directory.includes(`${sep}node-gyp-bin`);
}
