import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { personOf, requireHome, stateOf, unitOf } from '../../../src/cli/install/person.ts';

describe('a person of the user database', () => {
  test('is one line of it', () => {
    expect(personOf('anna:x:1000:1000:Anna,,,:/home/anna:/bin/bash\n')).toEqual({
      name: 'anna',
      uid: 1000,
      home: '/home/anna',
    });
  });

  test.each(['', 'anna', 'anna:x:many:1000::/home/anna:/bin/sh'])('is not "%s"', (line) => {
    expect(personOf(line)).toBeUndefined();
  });
});

describe('the unit of a person', () => {
  test.each([
    ['anna', 'holdfast-anna.service'],
    ['anna-b.c_d', 'holdfast-anna-b.c_d.service'],
    [String.raw`CORP\eva@x`, String.raw`holdfast-CORP\x5ceva\x40x.service`],
    ['../../x', String.raw`holdfast-..\x2f..\x2fx.service`],
    ['ä', String.raw`holdfast-\xc3\xa4.service`],
  ])('of "%s" is %s', (name, unit) => {
    expect(unitOf({ name, uid: 1, home: '/' })).toBe(unit);
  });
});

describe('the state of another person', () => {
  const anna = { name: 'anna', uid: 4242, home: '/home/anna' };

  test('is in the home, whatever the home of root is', () => {
    expect(stateOf(anna, { HOME: '/elsewhere', XDG_STATE_HOME: '/elsewhere/state' })).toBe(
      '/home/anna/.local/state/holdfast',
    );
  });

  test('is where it was said to be', () => {
    expect(stateOf(anna, { HOLDFAST_STATE_DIR: '/srv/anna' })).toBe('/srv/anna');
  });
});

describe('the home of a person', () => {
  test.each(['', '/', '//', 'home', '/nowhere/at/all'])('"%s" is refused', async (home) => {
    await expect(requireHome({ name: 'anna', uid: 4242, home })).rejects.toThrow('no home directory');
  });

  test.each([' anna', 'anna ', 'an\nna', 'anna\\'])('the name "%s" cannot stand in a unit', async (name) => {
    await expect(requireHome({ name, uid: 4242, home: tmpdir() })).rejects.toThrow('systemd unit');
  });

  test('is a directory', async () => {
    const home = mkdtempSync(join(tmpdir(), 'holdfast-home-'));
    try {
      await expect(requireHome({ name: 'anna', uid: 4242, home })).resolves.toBeUndefined();
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});
