/**
 * The real program in a directory of its own: `await using place = await openPlace()` removes everything at the end.
 * The program must be built.
 */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CODE_CACHE, TEST_CACHE } from './code-cache.ts';
import { executable } from './executable.ts';
import { removeTree } from './remove-tree.ts';
import { isTurnOfOwnProcess, runWarm } from './warm-program.ts';

export { executable } from './executable.ts';

export const PASSPHRASE = 'correct horse battery staple';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  /** The same, as it came. */
  readonly bytes: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  /** Changes to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** What the program reads from standard input; nothing by default. */
  readonly input?: string;
  /** Put before the program: `setpriv` and its options. */
  readonly under?: readonly string[];
  /** Instead of the Node.js that runs the tests. */
  readonly node?: string;
}

export interface Place extends AsyncDisposable {
  readonly directory: string;
  /** An empty directory to back up. */
  readonly source: string;
  /** Where HOLDFAST_REPOSITORY points. */
  readonly repository: string;
  readonly state: string;
  /** Runs the program to its end, mostly in a process that has it loaded already. */
  run(words: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Runs it and fails, telling what it said, unless it ends with `code` (0). */
  expectRun(words: readonly string[], code?: number, options?: RunOptions): Promise<Outcome>;
  start(words: readonly string[], options?: RunOptions): ChildProcess;
  /** Makes files below the source; a name that ends with a slash is an empty directory. */
  write(files: Readonly<Record<string, string | Uint8Array>>): Promise<void>;
}

/** `chosen`: an empty directory in place of a temporary one. Nothing is made in it; it is removed at the end all the same. */
export async function openPlace(chosen?: string): Promise<Place> {
  const directory = chosen ?? (await realpath(await mkdtemp(join(tmpdir(), 'holdfast-cli-'))));
  const source = join(directory, 'source');
  const repository = join(directory, 'repository');
  const state = join(directory, 'state');
  if (chosen === undefined) await mkdir(source);
  const environment = ({ env }: RunOptions) => ({
    ...baseEnvironment({ directory, repository, state }),
    ...env,
  });
  const start = (words: readonly string[], options: RunOptions = {}): ChildProcess => {
    const [program, ...before] = [...(options.under ?? []), options.node ?? process.execPath];
    return spawn(program, [...before, executable, ...words], {
      cwd: options.cwd ?? directory,
      env: environment(options),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  };
  const run = async (words: readonly string[], options: RunOptions = {}): Promise<Outcome> => {
    if (isForWarmProcess(words, options) && !isTurnOfOwnProcess()) return await runBriefly(words, options);
    const child = start(words, options);
    // It may end without having read what it is given.
    child.stdin?.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
    child.stdin?.end(options.input ?? '');
    return await outcomeOf(child);
  };
  const runBriefly = async (words: readonly string[], options: RunOptions): Promise<Outcome> => {
    const { cwd = directory, input = '' } = options;
    const { code, stdout, stderr } = await runWarm({ words, env: environment(options), cwd, input });
    return { code, bytes: stdout, stdout: stdout.toString(), stderr: stderr.toString() };
  };
  return {
    directory,
    source,
    repository,
    state,
    start,
    run,
    async expectRun(words, code = 0, options = {}) {
      const outcome = await run(words, options);
      if (outcome.code === code) return outcome;
      throw new Error(
        `holdfast ${words.join(' ')} ended with ${outcome.code} instead of ${code}:\n${outcome.stderr}${outcome.stdout}`,
      );
    },
    async write(files) {
      for (const [name, content] of Object.entries(files)) {
        const path = join(source, name);
        if (name.endsWith('/')) await mkdir(path, { recursive: true });
        else {
          await mkdir(dirname(path), { recursive: true });
          await writeFile(path, content);
        }
      }
    },
    async [Symbol.asyncDispose]() {
      removeTree(directory);
    },
  };
}

/** What starts an agent, as `start` does without `--once`, or looks at the process that it is in. */
const OWN_PROCESS: ReadonlySet<string> = new Set(['start', 'install', 'uninstall', 'doctor']);

/** Variables of Node.js itself are read when a process starts. */
function isForWarmProcess(words: readonly string[], { under, node, env = {} }: RunOptions): boolean {
  if (under !== undefined || node !== undefined) return false;
  if (words.some((word) => OWN_PROCESS.has(word)) && !words.includes('--once')) return false;
  return !Object.keys(env).some((name) => /^(NODE|TZ|LANG|LC_|HOLDFAST_ZSTD)/.test(name));
}

/** Without anything that changes how the program behaves, and with a passphrase cost that takes no time. */
function baseEnvironment(paths: {
  readonly directory: string;
  readonly repository: string;
  readonly state: string;
}): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDFAST(?!_ZSTD)|VITEST|NODE|npm|INIT_CWD|NO_COLOR|FORCE_COLOR)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    HOLDFAST_REPOSITORY: paths.repository,
    HOLDFAST_STATE_DIR: paths.state,
    HOLDFAST_PASSWORD: PASSPHRASE,
    // Texts are compared with the plain name; program-calls.test.ts has all others.
    HOLDFAST_PROGRAM: 'holdfast',
    HOLDFAST_TEST_KDF: '64,1,1',
    XDG_CACHE_HOME: TEST_CACHE,
    NODE_COMPILE_CACHE: CODE_CACHE,
  };
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr?.on('data', (bytes: Buffer) => err.push(bytes));
  const [code] = (await once(child, 'close')) as [number | null];
  const bytes = Buffer.concat(out);
  return { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err).toString() };
}

/** The objects of `--json` output, one on each line. */
export function jsonLines({ stdout }: Pick<Outcome, 'stdout'>): readonly Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/**
 * What to put before a command so that file modes count for it: nothing for an ordinary user; for root, dropping the
 * capabilities that let it read everything. Undefined where that is not possible.
 */
export function obeyingModes(): readonly string[] | undefined {
  if (process.getuid?.() !== 0) return [];
  const dropped = ['setpriv', '--inh-caps=-all', '--bounding-set=-dac_override,-dac_read_search', '--'];
  const [program = '', ...words] = dropped;
  return spawnSync(program, [...words, 'true']).status === 0 ? dropped : undefined;
}
