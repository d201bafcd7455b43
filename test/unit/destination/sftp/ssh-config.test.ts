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
