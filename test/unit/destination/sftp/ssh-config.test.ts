import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseLocation } from '../../../../src/destination/location.ts';
import { prepareTarget } from '../../../../src/destination/sftp/target.ts';
import { identityOf } from '../../../../src/destination/sftp/place.ts';
import { parseSshConfig } from '../../../../src/destination/sftp/ssh-config.ts';

const text = `
# of nobody in particular
IdentityFile ~/.ssh/first
Host nas nas.local
  HostName = 10.0.0.5
  Port 2222
  User "keeper of things"
  IdentityFile "%d/.ssh/key for %h"
Host *.example.org !bad.example.org
  User guest
Match user root
  User nobody
Host *
  User everybody
  Port 99999
`;

test('the first value that fits a host counts, and keys add up', () => {
  expect(parseSshConfig(text, 'nas', '/home/me')).toEqual({
    hostName: '10.0.0.5',
    port: 2222,
    user: 'keeper of things',
    identityFiles: ['/home/me/.ssh/first', '/home/me/.ssh/key for 10.0.0.5'],
  });
});

test.each([
  ['a.example.org', 'guest'],
  ['bad.example.org', 'everybody'],
  ['elsewhere', 'everybody'],
])('patterns decide about %s', (host, user) => {
  expect(parseSshConfig(text, host, '/home/me')).toEqual({ user, identityFiles: ['/home/me/.ssh/first'] });
});

test.each([
  ['sftp://MyNas/dir', { hostName: '10.0.0.5', user: 'keeper' }],
  ['sftp://12/dir', { hostName: 'twelve.example' }],
  ['sftp://mynas/dir', {}],
])('the host of %s is looked up as it is written', async (url, expected) => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-ssh-'));
  try {
    await mkdir(join(home, '.ssh'));
    const aliases =
      'Host MyNas\n HostName 10.0.0.5\n User keeper\nHost 12\n HostName twelve.example\nHost *\n User me';
    await writeFile(join(home, '.ssh', 'config'), aliases);
    const place = parseLocation(url);
    if (place.kind !== 'sftp') throw new Error('It is no place of SFTP');
    const target = await prepareTarget(place, url, identityOf({ password: 'x' }, { home }));
    const { hostName = 'mynas', user = 'me' } = expected as { hostName?: string; user?: string };
    expect([target.host, target.user]).toEqual([hostName, user]);
  } finally {
    await rm(home, { recursive: true });
  }
});

test('a host that the file does not name is connected to in its one spelling, by which its key is known', async () => {
  const place = parseLocation('sftp://me@NAS.Example/dir');
  if (place.kind !== 'sftp') throw new Error('It is no place of SFTP');
  const target = await prepareTarget(place, 'url', identityOf({ password: 'x' }, {}));
  expect(target.host).toBe('nas.example');
});

test('an empty file says nothing', () => {
  expect(parseSshConfig('', 'nas', '/home/me')).toEqual({ identityFiles: [] });
});

test('a line of blanks takes little time', () => {
  const blanks = ' '.repeat(60_000);
  const started = process.cpuUsage();
  expect(
    parseSshConfig(`Host nas${blanks}x\nUser${blanks}=${blanks}ana${blanks}`, 'nas', '/home/ana').user,
  ).toBe('ana');
  expect(process.cpuUsage(started).user).toBeLessThan(500_000);
});
