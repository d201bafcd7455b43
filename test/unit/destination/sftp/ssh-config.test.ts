import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseLocation } from '../../../../src/destination/location.ts';
import { prepareTarget } from '../../../../src/destination/sftp/target.ts';
import { identityOf } from '../../../../src/destination/sftp/place.ts';
import { readSshConfig } from '../../../../src/destination/sftp/ssh-config-files.ts';
import {
  linesOf,
  parseSshConfig,
  settingsFor,
  type SshQuestion,
} from '../../../../src/destination/sftp/ssh-config.ts';

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

const ask = (text: string, more: Partial<SshQuestion> = {}) =>
  settingsFor(linesOf(text), { host: 'nas', home: '/home/me', localUser: 'ana', ...more });

test.each([
  ['Match all', true],
  ['Match host nas', true],
  ['Match host other,!nas', false],
  ['Match !host nas', false],
  ['Match originalhost n?s user ana', true],
  ['Match user root', false],
  ['Match localuser ana', true],
  ['Match exec "exit 0"', process.platform !== 'win32'],
  ['Match exec "exit 1"', false],
  ['Match canonical all', false],
])('%s holds: %s', (line, holds) => {
  expect(ask(`${line}\n Port 2222`).port === 2222).toBe(holds);
});

test('a condition that is not understood is refused where it decides, and only there', () => {
  expect(() => ask('Match tagged x\n Port 1')).toThrow('Match tagged');
  expect(ask('Match host other tagged x\n Port 1').port).toBeUndefined();
});

test('what decides who is reached, how, and as whom is taken', () => {
  const text = `HostKeyAlias vault
IdentitiesOnly yes
IdentityAgent ~/agent.sock
ProxyJump me@gate:2200,inner
ProxyCommand never
UserKnownHostsFile ~/.ssh/one "\${WHERE}/two"
IdentityFile ~/.ssh/%r@%n`;
  expect(ask(text, { environment: { WHERE: '/etc' } })).toEqual({
    hostKeyAlias: 'vault',
    identitiesOnly: true,
    identityAgent: '/home/me/agent.sock',
    proxyJump: ['me@gate:2200', 'inner'],
    userKnownHosts: ['/home/me/.ssh/one', '/etc/two'],
    identityFiles: ['/home/me/.ssh/ana@nas'],
  });
  expect(ask('ProxyJump none\nProxyCommand nc').proxyCommand).toBeUndefined();
  expect(ask('ProxyCommand nc %h %p', { port: 24 }).proxyCommand).toBe('nc nas 24');
});

test('files that are included count where they are included, and their blocks end with them', async () => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-ssh-'));
  try {
    await mkdir(join(home, '.ssh', 'd'), { recursive: true });
    const write = async (name: string, text: string) => await writeFile(join(home, '.ssh', name), text);
    await write(
      'config',
      'Host other\n Include one\nHost nas\n Include d/* ~/.ssh/missing\n Compression yes\n User last\n',
    );
    await write('one', 'User wrong\n');
    await write('d/a', 'Port 2200\nHost elsewhere\n User wrong\n');
    await write('d/b', 'HostName ten.example\n');
    const found = settingsFor(await readSshConfig(home), { host: 'nas', home });
    expect(found).toMatchObject({ hostName: 'ten.example', port: 2200, user: 'last' });
    await write('one', 'Include one\n');
    await expect(readSshConfig(home)).rejects.toThrow('includes itself');
  } finally {
    await rm(home, { recursive: true });
  }
});
