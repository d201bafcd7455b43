import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { isSourceOf, pathIn } from '../../../src/base/source-names.ts';

const at = asByteString;
const home = { paths: [at('/var/home')], named: [{ name: at('/home'), path: at('/var/home') }] };

describe('where a snapshot has what is asked for', () => {
  test.each([
    ['/home', '/var/home'],
    ['/home/ana/plan.odt', '/var/home/ana/plan.odt'],
    ['/var/home/ana', '/var/home/ana'],
    ['/homely', '/homely'],
    ['/', '/'],
    ['/var', '/var'],
    ['/etc', '/etc'],
  ])('%s is %s', (asked, found) => {
    expect(pathIn(home, at(asked))).toBe(found);
  });

  test('without a name it is where the path leads now, if the snapshot has that', () => {
    const unnamed = { paths: home.paths };
    expect(pathIn(unnamed, at('/home/x'), [at('/var/home/x')])).toBe('/var/home/x');
    expect(pathIn(unnamed, at('/home/x'), [at('/mnt/home/x')])).toBe('/home/x');
    expect(pathIn(unnamed, at('/h'), [at('/var')])).toBe('/var');
  });

  test('by its name also where the link leads elsewhere since', () => {
    expect(pathIn(home, at('/home/x'), [at('/mnt/empty/x')])).toBe('/var/home/x');
  });

  test('the root itself may have had another name', () => {
    const root = { paths: [at('/')], named: [{ name: at('/sysroot'), path: at('/') }] };
    expect(pathIn(root, at('/sysroot/etc'))).toBe('/sysroot/etc');
  });
});

test('a source is known by its name and by where it lay', () => {
  expect(isSourceOf(home, [at('/home')])).toBe(true);
  expect(isSourceOf(home, [at('/x'), at('/var/home')])).toBe(true);
  expect(isSourceOf(home, [at('/var/home/ana')])).toBe(false);
});
