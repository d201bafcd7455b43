/**
 * What lies in the state directory is for its owner alone, or the agent does not start. Line L08 of the security
 * checklist.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/base/redact.ts';
import { systemClock } from '../../src/base/clock.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon-options.ts';
import { createLog } from '../../src/base/log.ts';
import { namesBelow } from '../support/names-below.ts';

let root: string;
let state: string;

async function start(): Promise<Daemon> {
  return await startDaemon({
    stateDirectory: state,
    configFile: path.join(state, 'config.json'),
    configRequired: false,
    port: 0,
    version: '0.0.0',
    environment: {},
    clock: systemClock,
    log: createLog('error', { write: () => undefined }),
    redactor: createRedactor(),
    forget: () => undefined,
    machineKey: async () => await Promise.resolve(Buffer.alloc(32)),
    now: [],
  });
}

beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'holdfast-files-'));
  state = path.join(root, 'state');
  mkdirSync(state, { mode: 0o700 });
  for (const name of [
    'machine.key',
    'passphrase',
    'recovery-code',
    'recovery-kit.txt',
    'config.json',
    'agent.log',
    'enrollment.json',
  ])
    writeFileSync(path.join(state, name), name === 'config.json' ? '{}' : 'x', { mode: 0o600 });
  await (await start())[Symbol.asyncDispose]();
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

interface Sabotage {
  readonly what: string;
  readonly name: string;
  /** Does the harm, and gives what undoes it. */
  readonly harm: (file: string) => () => void;
}

function mode(name: string, bad: number): Sabotage {
  return {
    what: `${name === '' ? 'the state directory' : name} with mode ${bad.toString(8)}`,
    name,
    harm: (file) => {
      const good = lstatSync(file).mode & 0o7777;
      chmodSync(file, bad);
      return () => chmodSync(file, good);
    },
  };
}

/** What stands there is moved away, and what `make` makes takes its place. */
function instead(name: string, what: string, make: (file: string, aside: string) => void): Sabotage {
  return {
    what: `${what} in the place of ${name}`,
    name,
    harm: (file) => {
      const aside = path.join(root, 'aside');
      renameSync(file, aside);
      make(file, aside);
      return () => {
        rmSync(file, { recursive: true, force: true });
        renameSync(aside, file);
      };
    },
  };
}

const link = (name: string): Sabotage =>
  instead(name, 'a symbolic link', (file, aside) => symlinkSync(aside, file));

function owner(name: string): Sabotage {
  return {
    what: `${name === '' ? 'the state directory' : name} of another user`,
    name,
    harm: (file) => {
      chownSync(file, 12_345, 12_345);
      return () => chownSync(file, 0, 0);
    },
  };
}

const KEPT = [
  'token.key',
  'machine.key',
  'passphrase',
  'recovery-code',
  'recovery-kit.txt',
  'state.db',
  'journal/key',
  'agent.log',
  'enrollment.json',
] as const;

const SABOTAGES: readonly Sabotage[] = [
  ...[0o755, 0o750, 0o711, 0o777, 0o1777].map((bad) => mode('', bad)),
  ...['run', 'journal'].flatMap((name) => [mode(name, 0o755), mode(name, 0o770), link(name)]),
  ...KEPT.flatMap((name) => [mode(name, 0o644), mode(name, 0o660), mode(name, 0o604), link(name)]),
  mode('run/lock', 0o666),
  link('run/lock'),
  mode('config.last-good.json', 0o640),
  link('config.last-good.json'),
  instead('token.key', 'a directory', (file) => mkdirSync(file, { mode: 0o700 })),
  instead('token.key', 'a pipe', (file) => void execFileSync('mkfifo', ['-m', '600', file])),
  instead('state.db', 'a pipe', (file) => void execFileSync('mkfifo', ['-m', '600', file])),
  ...(process.getuid?.() === 0 ? ['', 'run', ...KEPT].map(owner) : []),
  // The last: the copy of its last valid content is gone from here on.
  ...[0o644, 0o620].map((bad) => mode('config.json', bad)),
  link('config.json'),
  ...(process.getuid?.() === 0 ? [owner('config.json')] : []),
];

describe('the agent', () => {
  test('L08: makes files with mode 600 and directories with mode 700', () => {
    const all = namesBelow(state);
    expect(all).toEqual(expect.arrayContaining(['token.key', 'state.db', 'journal/key', 'run/lock']));
    for (const name of all) {
      const stats = lstatSync(path.join(state, name));
      expect(stats.mode & 0o777, name).toBe(stats.isDirectory() ? 0o700 : 0o600);
      expect(stats.uid, name).toBe(process.geteuid?.());
    }
  });

  test.each(SABOTAGES.map((sabotage) => [sabotage.what, sabotage] as const))(
    'L08: does not start with %s, and says what to do',
    async (_, { name, harm }) => {
      const file = path.join(state, name);
      expect(existsSync(file)).toBe(true);
      const undo = harm(file);
      // What was valid before others could change the file would do instead of it.
      const lastGood = path.join(state, 'config.last-good.json');
      if (name === 'config.json') rmSync(lastGood, { force: true });
      try {
        await expect(start()).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:STATE_NOT_PRIVATE|CONFIG_UNSAFE|CONFIG_UNREADABLE)$/),
          message: expect.stringContaining(file),
          hint: expect.stringMatching(/chmod|chown|Replace it with|as that user/),
        });
      } finally {
        undo();
      }
    },
  );

  test('L08: was kept from starting in more than 20 ways, and starts when all is well again', async () => {
    expect(SABOTAGES.length).toBeGreaterThanOrEqual(20);
    await (await start())[Symbol.asyncDispose]();
  });
});
