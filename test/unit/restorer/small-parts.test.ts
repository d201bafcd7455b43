import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { keptPaths } from '../../../src/restorer/plan/extra-entries.ts';
import { Omissions } from '../../../src/restorer/request/tally.ts';
import { isImpossibleHere } from '../../../src/restorer/target/entry-failure.ts';
import { processStart } from '../../../src/system/process-identity.ts';
import {
  digestOf,
  endRun,
  isAbandoned,
  markOf,
  modeMark,
  newRun,
  temporaryName,
  unfinishedMark,
} from '../../../src/restorer/target/temporary-names.ts';
import { temporaryNameOf } from '../../support/restore-remains.ts';

describe('paths that the backup could not read', () => {
  const error = (path: string) => ({ path: treePath(path), code: 'EACCES', message: 'no' });
  const kept = keptPaths({ errors: [error('/a/b'), error('/c')], errorsMore: 0 });
  const keeps = (path: string): boolean => kept(treePath(path));

  test('are kept with everything above and below them', () => {
    expect(['/a/b', '/a/b/x', '/a/b/x/y', '/a', '/c', '/c/d'].map(keeps)).toEqual(Array(6).fill(true));
  });
  test('do not keep what lies beside them', () => {
    expect(['/a/bb', '/a/x', '/cc', '/d'].map(keeps)).toEqual(Array(4).fill(false));
  });
  test('keep everything when not all of them are known', () => {
    expect(keptPaths({ errors: [], errorsMore: 1 })(bytesOfText('/x'))).toBe(true);
    expect(keptPaths({ errors: [], errorsMore: 0 })(bytesOfText('/x'))).toBe(false);
  });
});

describe('omissions', () => {
  test('are counted by kind with the first reason and ten paths', () => {
    const one = new Omissions();
    for (let i = 0; i < 15; i += 1) one.note('ownership', `reason ${i}`, () => asByteString(`/p${i}`));
    one.note('times', 'late', () => asByteString('/t'));
    const [ownership, times] = one.list();
    expect(ownership).toMatchObject({ kind: 'ownership', count: 15, reason: 'reason 0' });
    expect(ownership?.paths).toHaveLength(10);
    expect(times).toMatchObject({ kind: 'times', count: 1 });
  });
  test('of deletions are counted by reason', () => {
    const one = new Omissions();
    for (const reason of ['mounted', 'unread', 'mounted'])
      one.note('deletion', reason, () => asByteString(`/${reason}`));
    expect(one.list().map(({ kind, reason, count }) => [kind, reason, count])).toEqual([
      ['deletion', 'mounted', 2],
      ['deletion', 'unread', 1],
    ]);
  });
  test('of several threads add up, and taking them empties the list', () => {
    const [one, all] = [new Omissions(), new Omissions()];
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 4; i += 1) one.note('xattrs', 'no room', () => asByteString(`/${round}/${i}`));
      all.add(one.take());
    }
    expect(one.take()).toEqual([]);
    expect(all.list()).toMatchObject([{ kind: 'xattrs', count: 12, reason: 'no room' }]);
    expect(all.list()[0]?.paths).toHaveLength(10);
  });
});

describe('names that Windows cannot have', () => {
  const names = [
    'a:b',
    'a\\b',
    'con',
    'NUL.txt',
    'com1',
    'LPT9.log',
    'a.',
    'a ',
    'a?',
    'a*',
    'a|b',
    'a\u0001',
    '"',
    '<',
    'aux.h',
  ];
  test.each(names)('%j', (name) => {
    expect(isImpossibleHere(asByteString(name), 'win32')).toBe(true);
    expect(isImpossibleHere(asByteString(name), 'linux')).toBe(false);
  });
  test.each(['a', 'console', 'com', 'com10', 'a.b', '.a', 'nul2', 'lpt'])('%j is none of them', (name) => {
    expect(isImpossibleHere(asByteString(name), 'win32')).toBe(false);
  });
});

describe('temporary names', () => {
  test('of this process are not abandoned before their run has ended', () => {
    const [run, other] = [newRun(), newRun()];
    expect(isAbandoned(temporaryName(run, 7))).toBe(false);
    endRun(run);
    expect(isAbandoned(temporaryName(run, 7))).toBe(true);
    expect(isAbandoned(temporaryName(other, 7))).toBe(false);
  });
  test('of a process that has ended are', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    expect(isAbandoned(temporaryNameOf({ pid }, 7))).toBe(true);
  });
  test.runIf(process.platform === 'linux')('of a process whose number another one has by now are', () => {
    const start = processStart(process.ppid) ?? '';
    expect(start).toMatch(/^\d+$/);
    expect(isAbandoned(temporaryNameOf({ pid: process.ppid, start }, 7))).toBe(false);
    expect(isAbandoned(temporaryNameOf({ pid: process.ppid, start: `${start}1` }, 7))).toBe(true);
    expect(isAbandoned(temporaryNameOf({ pid: process.pid, start: '1' }, 7))).toBe(true);
  });
  test('of anything else are not ours, whatever they look like', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const own = temporaryNameOf({ pid }, 7);
    for (const name of [
      '.holdfast-',
      'holdfast',
      `.holdfast-${pid}-1-0123456789ab-7`,
      `.holdfast-${pid}-1-0123456789ab-0123456789ab-7`,
      own.replace('-1-', '-2-'),
      `${own}-`,
      `${own}-x`,
      `${own}.bak`,
      temporaryNameOf({ pid: 0 }, 7),
    ])
      expect(isAbandoned(name), name).toBe(false);
  });
  test('of two runs differ', () => {
    expect(newRun()).not.toBe(newRun());
  });
  test('say what is unfinished, and which permissions a directory had', () => {
    const name = asByteString('a');
    expect(markOf(unfinishedMark(newRun(), 7, name))).toEqual({ unfinished: digestOf(name) });
    expect(markOf(modeMark(newRun(), 7, 0o2555))).toEqual({ mode: 0o2555 });
    expect(markOf(temporaryName(newRun(), 7))).toBeUndefined();
    expect(markOf('.holdfast-1-1-0123456789ab-0123456789ab-7-m555')).toBeUndefined();
  });
});
