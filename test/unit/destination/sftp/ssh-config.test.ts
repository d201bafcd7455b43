import { expect, test } from 'vitest';
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
