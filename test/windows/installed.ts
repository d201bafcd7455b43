/**
 * Holdfast as its installer puts it on Windows: run by the Node.js of that installation (windows.ts starts the installer,
 * then this). What a new user does, two of them at once, and the service.
 */
import { equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LOG, put, read, runProgram, runSteps, type Said } from './steps.ts';

const PROGRAM = String.raw`C:\Program Files\Holdfast`;
const NODE = join(PROGRAM, 'bin', 'node.exe');
const LAUNCHER = join(PROGRAM, 'service', 'bin', 'holdfast.js');
const SC = String.raw`C:\windows\system32\sc.exe`;
const SITE = String.raw`C:\installed`;
const REPOSITORY = join(SITE, 'repository');
/** On both drives. */
const SOURCES = [join(SITE, 'Data'), String.raw`D:\installed`] as const;
const FILES = 10_000;

const fileOf = (number: number): string =>
  join(SOURCES[number % 2] ?? '', `folder ${Math.floor(number / 100)}`, `file ${number}.txt`);
const contentOf = (number: number): string => `content of file ${number}\n`.repeat(1 + (number % 50));

function holdfast(...words: readonly string[]): Said {
  return runProgram(NODE, [LAUNCHER, ...words], { HOLDFAST_STATE_DIR: join(SITE, 'state') });
}

/** Runs the program, which has to succeed. */
function run(...words: readonly string[]): string {
  const said = holdfast(...words, '-r', REPOSITORY);
  equal(said.code, 0, `holdfast ${words.join(' ')} ended with ${said.code}:\n${said.out}\n${said.err}`);
  return said.out;
}

/** What `status` says once it says this; an agent needs a while to start. */
async function statusWith(state: string, expected: RegExp): Promise<string> {
  let last = '';
  for (let tries = 0; tries < 60; tries += 1) {
    const { out, err } = runProgram(NODE, [LAUNCHER, 'status'], { HOLDFAST_STATE_DIR: state });
    last = out + err;
    if (expected.test(last)) return last;
    await setTimeout(1000);
  }
  throw new Error(`status does not say ${expected}, but:\n${last}`);
}

async function serviceState(expected: string): Promise<void> {
  let last = '';
  for (let tries = 0; tries < 60; tries += 1) {
    last = runProgram(SC, ['query', 'Holdfast']).out;
    if (last.includes(expected)) return;
    await setTimeout(1000);
  }
  throw new Error(`the service is not ${expected}, but:\n${last}`);
}

await runSteps({
  'the installer has put it where only administrators write, and on the path': () => {
    for (const name of ['holdfast.cmd', 'LICENSE.txt', 'README.md', String.raw`bin\node.exe`])
      ok(existsSync(join(PROGRAM, name)), name);
    const key = String.raw`HKLM\System\CurrentControlSet\Control\Session Manager\Environment`;
    match(runProgram(String.raw`C:\windows\system32\reg.exe`, ['query', key, '/v', 'PATH']).out, /Holdfast/);
    put(join(SITE, 'version.cmd'), '@call "C:\\Program Files\\Holdfast\\holdfast.cmd" --version\r\n');
    const words = ['/c', join(SITE, 'version.cmd')];
    match(runProgram(String.raw`C:\windows\system32\cmd.exe`, words).out, /^holdfast \d+\.\d+\.\d+/);
  },
  'backs up 10,000 files on two drives': () => {
    for (let number = 0; number < FILES; number += 1) put(fileOf(number), contentOf(number));
    run('init');
    match(run('backup', ...SOURCES), /10,?000 new files/);
  },
  'saves what changed, and nothing else': () => {
    for (let number = 0; number < 100; number += 1) put(fileOf(number * 7), `changed ${number}`);
    rmSync(fileOf(1));
    match(run('backup', ...SOURCES), /0 new files, 100 changed, 9,?899 unchanged/);
  },
  'restores all of it elsewhere, as it was before': () => {
    const target = join(SITE, 'back');
    run('restore', 'latest~1', '--target', target);
    for (let number = 0; number < FILES; number += 1)
      equal(read(join(target, fileOf(number).replace(':', ''))), contentOf(number));
  },
  'restores in place what was deleted and spoilt': () => {
    put(fileOf(2), 'spoilt');
    rmSync(join(SOURCES[1], 'folder 3'), { recursive: true });
    run('restore', 'latest~1', '--in-place', '--overwrite', 'always');
    for (let number = 0; number < FILES; number += 1) equal(read(fileOf(number)), contentOf(number));
  },
  'removes what is too much beside the repository, and nothing of its own': () => {
    put(join(SITE, 'Data', 'too much.txt'), 'x');
    const own = (): number => readdirSync(REPOSITORY, { recursive: true }).length;
    const before = own();
    run('restore', `latest~1:${SITE}`, '--target', SITE, '--overwrite', 'always', '--delete-extra');
    ok(!existsSync(join(SITE, 'Data', 'too much.txt')));
    equal(own(), before);
    ok(existsSync(join(SITE, 'state')));
  },
  'checks, forgets and prunes': () => {
    run('check', '--read-data');
    run('forget', '--keep-last', '1', '--prune');
    run('check', '--read-data');
    equal(run('snapshots', '--json').trim().split('\n').length > 0, true);
  },
  'serves two people at once, each with an agent of their own': async () => {
    const agents = ['ann', 'ben'].map((name, at) => {
      const home = join(SITE, name);
      put(join(home, 'Documents', `of ${name}.txt`), name);
      const log = openSync(join(LOG, `agent-${name}.txt`), 'w');
      const words = ['start', '--port', String(7401 + at), '-s', join(home, 'Documents')];
      const env = { ...process.env, HOLDFAST_STATE_DIR: join(home, 'state') };
      return { name, home, child: spawn(NODE, [LAUNCHER, ...words], { stdio: ['ignore', log, log], env }) };
    });
    for (const { name, home } of agents) {
      const said = await statusWith(join(home, 'state'), /Protected/);
      ok(said.includes(join(home, 'Documents')) || said.includes(name), said);
      const other = name === 'ann' ? 'ben' : 'ann';
      ok(!said.includes(join(SITE, other)), said);
    }
    for (const { home, child } of agents) {
      child.kill();
      await statusWith(join(home, 'state'), /not running/);
    }
  },
  'runs as the service that an installation makes: started, asked, stopped': async () => {
    const planned = runProgram(NODE, [LAUNCHER, 'service', 'install', '--system', '--dry-run']).out;
    const [, command = ''] = /binPath= '(.*?)' DisplayName/.exec(planned) ?? [];
    const [node = '', script = ''] = command.split('"').filter((part) => part.trim() !== '');
    equal(node.toLowerCase(), NODE.toLowerCase(), planned);
    ok(existsSync(script), planned);
    const state = join(SITE, 'service', 'state');
    mkdirSync(state, { recursive: true });
    const created = runProgram(SC, [
      'create',
      'Holdfast',
      'type=',
      'own',
      'start=',
      'demand',
      'binPath=',
      `"${node}" "${script}" "${state}"`,
    ]);
    equal(created.code, 0, created.out + created.err);
    equal(runProgram(SC, ['start', 'Holdfast']).code, 0);
    await serviceState('RUNNING');
    await statusWith(state, /nothing is chosen for backup yet/);
    equal(runProgram(SC, ['stop', 'Holdfast']).code, 0);
    await serviceState('STOPPED');
    await statusWith(state, /not running/);
    equal(runProgram(SC, ['delete', 'Holdfast']).code, 0);
  },
});
