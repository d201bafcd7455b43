/** docs/first-steps.md, followed to the letter in a home directory of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runCommands, stepsOf } from './document-commands.ts';
import { removeTree } from './remove-tree.ts';

/** As the document has it. */
const ADDRESS = 'http://127.0.0.1:7390';
const HOME = '/home/anna';
const START = 'npm ci && npm start -- --source ~/Documents';

export interface Followed {
  /** For each step but the first, in the paths and with the address of the document. */
  readonly steps: readonly {
    readonly command: string;
    readonly shown: string | undefined;
    readonly printed: string;
  }[];
  /** Of the first step, which goes on running. */
  readonly started: string;
}

/**
 * `begin` runs the first step, by a free port, and may use something shorter than `npm ci`; the others run in
 * `directory` as they stand.
 */
export async function followFirstSteps(
  root: string,
  begin: (home: string) => Promise<{ readonly command: string; readonly directory: string }>,
): Promise<Followed> {
  const [first, ...steps] = stepsOf(await readFile(join(root, 'docs', 'first-steps.md'), 'utf8'));
  if (first?.command.trim() !== START) throw new Error(`The first step is not: ${START}`);
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-steps-')));
  try {
    await fillHome(home);
    const { command, directory } = await begin(home);
    const env = environment(home);
    // A group of its own: npm does not hand signals on to what it started.
    const agent = spawn('sh', ['-c', command], {
      cwd: directory,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const started = await saidUntil(agent, /^Backed up \d.*/m);
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(started)?.[0] ?? '';
      const printed = await runCommands(
        steps.map((step) => step.command.replaceAll(ADDRESS, address)),
        { cwd: directory, env },
      );
      return {
        started,
        steps: steps.map((step, index) => ({
          ...step,
          printed: (printed[index] ?? '').replaceAll(address, ADDRESS).replaceAll(home, HOME),
        })),
      };
    } finally {
      await endGroup(agent);
    }
  } finally {
    removeTree(home);
  }
}

/** The same bytes each time, as the document shows their sizes. */
async function fillHome(home: string): Promise<void> {
  await mkdir(join(home, 'Documents'));
  await writeFile(join(home, 'Documents', 'diary.txt'), 'Dear diary\n');
  await mkdir(join(home, 'Pictures', '2026'), { recursive: true });
  const picture = Buffer.concat(
    Array.from({ length: 9_375 }, (_, index) => createHash('sha256').update(String(index)).digest()),
  );
  await writeFile(join(home, 'Pictures', '2026', 'lake.jpg'), picture, { mode: 0o644 });
  await writeFile(join(home, 'Pictures', 'notes.txt'), 'Lake in May\n', { mode: 0o644 });
}

function environment(home: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:HOLDFAST|VITEST|NODE_(?!EXTRA_CA_CERTS)|npm_(?!config_)|INIT_CWD|XDG_|FORCE_COLOR)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    HOLDFAST_TEST_KDF: '64,1,1',
    // What npm keeps of packages and registries stays that of the person who runs the tests.
    npm_config_cache: process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? '', '.npm'),
    npm_config_userconfig: process.env['npm_config_userconfig'] ?? join(process.env['HOME'] ?? '', '.npmrc'),
  };
}

async function saidUntil(child: ChildProcess, wanted: RegExp): Promise<string> {
  let said = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  for await (const line of createInterface(child.stdout ?? process.stdin)) {
    said += `${line}\n`;
    if (!wanted.test(said)) continue;
    child.stdout?.resume();
    return said;
  }
  throw new Error(`The agent ended:\n${said}`);
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, 'close');
  process.kill(-child.pid, 'SIGTERM');
  await closed;
}
