/**
 * What somebody does on Windows, with the real program: run by Node for Windows (windows.ts starts it). Each step is a few
 * commands and what must hold afterwards.
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LOG, put, read, runProgram, runSteps, type Said } from './steps.ts';

/** The folder that windows.ts shares with this process. */
const SITE = 'C:\\site';
const REPOSITORY = join(SITE, 'repository');
const DATA = join(SITE, 'Data');
const DOCUMENTS = 'D:\\documents';
const LONG = join(
  DATA,
  ...Array.from({ length: 9 }, (_, level) => `a directory with a long name, level ${level}`),
);

function holdfast(...words: readonly string[]): Said {
  return runProgram(process.execPath, [join(process.cwd(), 'service', 'bin', 'holdfast.js'), ...words], {
    HOLDFAST_STATE_DIR: join(SITE, 'state'),
  });
}

/** Runs the program, which has to end with this code. */
function run(code: number, ...words: readonly string[]): Said {
  const said = holdfast(...words, '-r', REPOSITORY);
  equal(said.code, code, `holdfast ${words.join(' ')} ended with ${said.code}:\n${said.out}\n${said.err}`);
  return said;
}

const listed = (said: Said): readonly string[] => said.out.split('\n').filter((line) => line !== '');

await runSteps({
  'backs up two drives, in whatever case they are named': () => {
    put(join(DATA, 'letter.txt'), 'Dear Sir');
    put(join(DATA, 'Größe und Maß', 'ñandú 日本 😀.txt'), 'names');
    put(join(DATA, 'Sub', 'notes.txt'), 'notes');
    put(join(DATA, 'Cache', 'big.tmp'), 'left out');
    put(join(LONG, 'deep.txt'), 'deep');
    put(join(DATA, 'closed.txt'), 'read-only');
    chmodSync(join(DATA, 'closed.txt'), 0o444);
    put(join(DOCUMENTS, 'plan.txt'), 'plan');
    run(0, 'init');
    const { err } = run(0, 'backup', DATA.toLowerCase(), DOCUMENTS, '--exclude', 'CACHE');
    match(err, /access lists/);
  },
  'lists paths as Windows writes them': () => {
    const names = listed(run(0, 'ls', '-R', 'latest'));
    ok(names.includes(join(LONG, 'deep.txt')), names.join('\n'));
    ok(names.includes(join(DOCUMENTS, 'plan.txt')));
    ok(!names.some((name) => name.includes('big.tmp')));
    deepEqual(listed(run(0, 'ls', `latest:${join(DATA, 'Sub')}`)), [join(DATA, 'Sub', 'notes.txt')]);
    deepEqual(listed(run(0, 'ls', 'latest', '/C/site/Data/Sub')), [join(DATA, 'Sub', 'notes.txt')]);
    match(run(0, 'snapshots').out, /C:\\site\\Data/);
  },
  'saves what changed, as one more snapshot of the same sources': () => {
    put(join(DATA, 'Sub', 'notes.txt'), 'more notes');
    const said = run(0, 'backup', DATA, DOCUMENTS, '--exclude', 'cache').out;
    match(said, /0 new files, 1 changed, 5 unchanged/);
  },
  'restores elsewhere, below the paths that the files had': () => {
    const target = join(SITE, 'back');
    run(0, 'restore', 'latest', '--target', target);
    equal(read(join(target, 'C', 'site', 'Data', 'Sub', 'notes.txt')), 'more notes');
    equal(read(join(target, LONG.replace('C:', 'C'), 'deep.txt')), 'deep');
    equal(read(join(target, 'D', 'documents', 'plan.txt')), 'plan');
    equal(statSync(join(target, 'C', 'site', 'Data', 'closed.txt')).mode & 0o200, 0);
    const times = [target, 'C:\\'].map((root) =>
      statSync(join(root, root === target ? 'C' : '', 'site', 'Data', 'letter.txt')),
    );
    ok(Math.abs((times[0]?.mtimeMs ?? 0) - (times[1]?.mtimeMs ?? 0)) < 0.001);
  },
  'restores one file in place, and replaces a read-only one': () => {
    put(join(DATA, 'letter.txt'), 'spoilt!!');
    put(join(DOCUMENTS, 'plan.txt'), 'spoilt');
    chmodSync(join(DOCUMENTS, 'plan.txt'), 0o444);
    run(0, 'restore', 'latest', join(DATA, 'letter.txt'), '--in-place', '--overwrite', 'always');
    equal(read(join(DATA, 'letter.txt')), 'Dear Sir');
    equal(read(join(DOCUMENTS, 'plan.txt')), 'spoilt');
    run(0, 'restore', 'latest', '--in-place', '--overwrite', 'if-changed');
    equal(read(join(DOCUMENTS, 'plan.txt')), 'plan');
  },
  'names a file that another program has open, and restores the others': () => {
    put(join(DATA, 'letter.txt'), 'held');
    put(join(DATA, 'Sub', 'notes.txt'), 'spoilt');
    const holder = openSync(join(DATA, 'letter.txt'), 'r');
    const said = holdfast('restore', 'latest', DATA, '--in-place', '--overwrite', 'always', '-r', REPOSITORY);
    closeSync(holder);
    equal(read(join(DATA, 'Sub', 'notes.txt')), 'more notes');
    // Node opens files so that others may replace them: then it is restored. Otherwise it is named.
    if (said.code !== 0) match(said.out + said.err, /letter\.txt/);
    else equal(read(join(DATA, 'letter.txt')), 'Dear Sir');
  },
  'never removes its own places, however the target is spelt': () => {
    put(join(SITE, 'Data', 'extra.txt'), 'extra');
    const objects = readdirSync(REPOSITORY, { recursive: true }).length;
    const said = run(
      0,
      'restore',
      'latest:c:\\SITE',
      '--target',
      'c:\\SITE',
      '--overwrite',
      'always',
      '--delete-extra',
    );
    equal(readdirSync(REPOSITORY, { recursive: true }).length, objects, said.out);
    ok(existsSync(join(SITE, 'state')));
    ok(!existsSync(join(DATA, 'extra.txt')), said.out);
    const refused = holdfast('restore', 'latest', '--target', REPOSITORY.toUpperCase(), '-r', REPOSITORY);
    equal(refused.code === 0, false);
    match(refused.err, /repository/);
    const source = holdfast('backup', REPOSITORY.toUpperCase(), '-r', REPOSITORY);
    equal(source.code === 0, false, source.out);
  },
  'checks and prunes': () => {
    run(0, 'forget', '--keep-last', '1', '--prune');
    run(0, 'check', '--read-data');
  },
  'restores what Linux stored, and names what cannot exist here': () => {
    const other = 'D:\\from-linux';
    const target = 'D:\\linux';
    const said = holdfast('restore', 'latest', '--target', target, '-r', other);
    equal(said.code, 3, said.out + said.err);
    const told = said.out + said.err;
    for (const name of ['aux', 'clash', 'colon:name', 'bad-']) match(told, new RegExp(name));
    const home = join(target, readFileSync(join(LOG, 'linux-source.txt'), 'utf8').trim());
    equal(read(join(home, 'plain.txt')), 'plain');
    equal(read(join(home, 'CLASH')), 'upper');
    // The second run must not mix the two either.
    rmSync(join(home, 'CLASH'));
    writeFileSync(join(home, 'clash'), 'lower');
    const clash = statSync(join(home, 'plain.txt'));
    utimesSync(join(home, 'clash'), clash.atime, clash.mtime);
    const again = holdfast('restore', 'latest', '--target', target, '--overwrite', 'if-changed', '-r', other);
    equal(again.code, 3, again.out + again.err);
    deepEqual(
      readdirSync(home).filter((name) => name.toLowerCase() === 'clash'),
      ['clash'],
    );
    equal(read(join(home, 'clash')), 'lower');
    match(again.out + again.err, /CLASH/);
  },
});
