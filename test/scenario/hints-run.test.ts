/** What an error says to type is typed, by a shell, and works: for who runs the program by npm, and by its path. */
// Turn 1 of 8.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markBuilt } from '../../service/build/fresh.js';
import { executable, openPlace } from '../support/cli.ts';
import { removeTree } from '../support/remove-tree.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const canNpm = ['npm', 'script'].every((program) => spawnSync(program, ['--version']).status === 0);

/** A home of its own, with a clone of what npm starts. */
let home: string;
let clone: string;

beforeAll(() => {
  home = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast hints-')));
  clone = path.join(home, 'clone');
  mkdirSync(path.join(home, 'papers'));
  writeFileSync(path.join(home, 'papers', 'plan.txt'), 'x');
  for (const name of ['dist', 'service'])
    cpSync(path.join(root, name), path.join(clone, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  manifest.scripts = { start: manifest.scripts['start'] ?? '' };
  // There are no sources here to build it from.
  markBuilt(clone, new Date());
  writeFileSync(path.join(clone, 'package.json'), JSON.stringify(manifest));
});

afterAll(() => removeTree(home));

/** As a person has it in a terminal. */
function shell(line: string, directory: string): { readonly code: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    cwd: directory,
    encoding: 'utf8',
    env: {
      PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: home,
      TERM: 'dumb',
      HOLDFAST_TEST_KDF: '64,1,1',
      npm_config_update_notifier: 'false',
      npm_config_offline: 'true',
    },
  });
  return { code: status, said: `${stdout}${stderr}`.replaceAll('\r', '') };
}

function onTerminal(line: string, directory: string): ReturnType<typeof shell> {
  return shell(`script --quiet --return --command "${line}" /dev/null < /dev/null`, directory);
}

/** The first command that was said. */
function hintIn(said: string, program: string): string {
  const at = said.indexOf(`: ${program}`);
  if (at === -1) throw new Error(`no command that begins with ${program}:\n${said}`);
  return (said.slice(at + 2).split('\n')[0] ?? '').replace(/\. [A-Z].*$/, '').trim();
}

type Say = (words: string) => ReturnType<typeof shell>;

/** From mistake to mistake; each is followed by what it says to do. */
function followHints(say: Say, program: string, directory: string): void {
  const follow = (mistake: string, expected: string, change = (hint: string) => hint): string => {
    const { code, said } = say(mistake);
    expect(code, said).not.toBe(0);
    const hint = hintIn(said, program);
    expect(hint).toBe(`${program} ${expected}`);
    const done = shell(change(hint), directory);
    expect(done.code, `${hint}\n${done.said}`).toBe(0);
    return done.said;
  };
  for (const name of ['.local', 'usb']) rmSync(path.join(home, name), { recursive: true, force: true });
  const papers = path.join(home, 'papers');
  const repository = path.join(home, 'usb');
  expect(follow('restore', 'help restore')).toContain('Usage:');
  expect(follow('jobs --state failed', 'help jobs')).toContain('Usage:');
  expect(follow('sources remove /nowhere', 'sources list')).toContain('Nothing is backed up');
  expect(follow('destinations remove nowhere', 'destinations list')).toContain('default');
  const begin = program === 'npm start --' ? '--source DIR' : 'start --source DIR';
  const saved = follow('snapshots', begin, (hint) => `${hint.replace('DIR', `'${papers}'`)} --once`);
  // What is said when all is well works, too.
  const next = saved.split('\n').find((line) => / snapshots {2,}/.test(line)) ?? '';
  expect(shell(next.replace(/ list the snapshots$/, ''), directory).said).toContain(papers);
  expect(follow('ls nosuch', 'snapshots')).toContain(papers);
  expect(follow(`cat latest '${papers}'`, `ls latest '${papers}'`)).toContain('plan.txt');
  const made = `HOLDFAST_PASSWORD=secret-words`;
  expect(shell(`${made} ${program} init -r '${repository}'`, directory).code).toBe(0);
  const there = say(`ls -r '${repository}' --password-command 'echo secret-words' nosuch`);
  const hint = hintIn(there.said, program);
  expect(hint).toBe(`${program} snapshots -r '${repository}'`);
  expect(shell(`${made} ${hint}`, directory)).toMatchObject({ code: 0 });
}

describe('what is said to be typed works', () => {
  test.runIf(canNpm)('by npm start, in the folder of the program', () => {
    followHints((words) => onTerminal(`npm start -- ${words}`, clone), 'npm start --', clone);
    expect(onTerminal('npm start -- --help', clone).said).toContain('Usage: npm start -- COMMAND');
  });

  test.runIf(canNpm)('by the path, in the folder of the program', () => {
    const program = 'node service/bin/holdfast.js';
    followHints((words) => onTerminal(`${program} ${words}`, clone), program, clone);
  });

  test.runIf(canNpm)('by npm start, for who reads it elsewhere', () => {
    const program = `node '${path.join(clone, 'service/bin/holdfast.js')}'`;
    followHints((words) => shell(`npm start -- ${words}`, clone), program, '/');
  });

  test('by the path, for who reads it elsewhere', () => {
    const program = `node '${path.join(clone, 'service/bin/holdfast.js')}'`;
    followHints((words) => shell(`${program} ${words}`, home), program, '/');
  });

  test('by the page, wherever the agent has its state', async () => {
    await using place = await openPlace();
    const agent = place.start(['start', '--port', '0', '--json'], { env: { HOLDFAST_PROGRAM: undefined } });
    try {
      const address = await new Promise<string>((resolve) => {
        agent.stdout?.on('data', (bytes: Buffer) => {
          const found = /"address":"([^"]+)"/.exec(bytes.toString())?.[1];
          if (found !== undefined) resolve(found);
        });
      });
      const html = await (await fetch(address)).text();
      const program = /<meta name="program" content="([^"]+)" \/>/.exec(html)?.[1] ?? '';
      expect(program).toBe(`HOLDFAST_STATE_DIR=${place.state} node ${executable}`);
      expect(shell(`${program} jobs`, '/')).toMatchObject({ code: 0 });
    } finally {
      agent.kill();
      await once(agent, 'close');
    }
  });
});
