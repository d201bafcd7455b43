import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  fingerprintOf,
  judgeHostKey,
  knownTypes,
  matches,
  parseKnownHosts,
  typeOfKey,
} from '../../../../src/destination/sftp/known-hosts.ts';

/** As in the SSH protocol: a name and 32 bytes, each after its length. */
function makeKey(type = 'ssh-ed25519'): Buffer {
  const part = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.byteLength);
    return Buffer.concat([length, bytes]);
  };
  return Buffer.concat([part(Buffer.from(type)), part(randomBytes(32))]);
}

function line(hosts: string, key: Buffer): string {
  return `${hosts} ${typeOfKey(key)} ${key.toString('base64')} a comment`;
}

function hashed(name: string): string {
  const salt = randomBytes(20);
  const hash = createHmac('sha1', salt).update(name).digest('base64');
  return `|1|${salt.toString('base64')}|${hash}`;
}

function judge(text: string, host: string, port: number, key: Buffer): string {
  return judgeHostKey(parseKnownHosts(text, 'known'), host, port, key).kind;
}

describe('a host key', () => {
  const key = makeKey();

  test.each([
    ['its name', 'example.org', 'example.org', 22],
    ['its name in other letters', 'Example.ORG', 'EXAMPLE.org', 22],
    ['one of several names', 'a,example.org,10.0.0.1', '10.0.0.1', 22],
    ['a pattern', '*.example.org', 'deep.in.example.org', 22],
    ['a pattern of single characters', '10.0.0.?', '10.0.0.7', 22],
    ['its name and port', '[example.org]:2222', 'example.org', 2222],
    ['its name alone, on another port', 'example.org', 'example.org', 2222],
    ['an address of version 6', '[::1]:2222', '::1', 2222],
    ['a hashed name', hashed('example.org'), 'example.org', 22],
    ['a hashed name and port', hashed('[example.org]:2222'), 'example.org', 2222],
  ])('is known by %s', (_, hosts, host, port) => {
    expect(judge(line(hosts, key), host, port, key)).toBe('known');
  });

  test.each([
    ['another name', 'example.com', 'example.org', 22],
    ['another port', '[example.org]:2222', 'example.org', 2223],
    ['a port where it is asked without one', '[example.org]:2222', 'example.org', 22],
    ['a pattern that excludes it', '*.example.org,!bad.example.org', 'bad.example.org', 22],
    ['a name that a dot in a pattern would allow', 'a.c', 'abc', 22],
    ['the hash of another name', hashed('example.com'), 'example.org', 22],
  ])('is not known by %s', (_, hosts, host, port) => {
    expect(judge(line(hosts, key), host, port, key)).toBe('unknown');
  });

  test('that differs from the known one of its type has changed, and the line is named', () => {
    const known = parseKnownHosts(`# first\n${line('h', makeKey())}`, 'known');
    expect(judgeHostKey(known, 'h', 22, key)).toEqual({ kind: 'changed', at: 'known:2' });
  });

  test('is known when one of several lines has it', () => {
    expect(judge(`${line('h', makeKey())}\n${line('h', key)}`, 'h', 22, key)).toBe('known');
  });

  test('of another type than those known is not known, and those known are asked for first', () => {
    const text = line('h', makeKey('ssh-rsa'));
    expect(judge(text, 'h', 22, key)).toBe('other-type');
    expect(knownTypes(parseKnownHosts(text, 'known'), 'h', 22)).toEqual(['ssh-rsa']);
  });

  test('that is revoked is refused although another line knows it', () => {
    const text = `${line('h', key)}\n@revoked ${line('*', key)}`;
    expect(judge(text, 'h', 22, key)).toBe('revoked');
    expect(judge(`${line('[h]:23', key)}\n@revoked ${line('*', key)}`, 'h', 23, key)).toBe('revoked');
  });

  test('of a certificate authority is no key of the host itself', () => {
    expect(judge(`@cert-authority ${line('*', key)}`, 'h', 22, key)).toBe('authority');
    expect(knownTypes(parseKnownHosts(`@cert-authority ${line('*', key)}`, 'known'), 'h', 22)).toEqual([]);
  });

  test('that stands alone in a file is that of whichever host is asked about', () => {
    const text = `${typeOfKey(key)} ${key.toString('base64')} root@example`;
    expect(judge(text, 'any', 2222, key)).toBe('known');
    expect(judge(text, 'any', 2222, makeKey())).toBe('changed');
  });

  test('is not read out of lines that are none', () => {
    const encoded = key.toString('base64');
    const text = `h ssh-rsa ${encoded}\n@unknown h ssh-ed25519 ${encoded}\nh\nh ssh-ed25519\nh ssh-ed25519 !!!`;
    expect(parseKnownHosts(text, 'known')).toEqual([]);
  });

  test('has the fingerprint that ssh-keygen shows', () => {
    const blob = Buffer.from(
      'AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f',
      'base64',
    );
    expect(fingerprintOf(blob)).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
    expect(typeOfKey(blob)).toBe('ssh-ed25519');
    expect(typeOfKey(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }))).toBe(
      '',
    );
  });
});

describe('a pattern of host names', () => {
  test.each([
    ['*', '', true],
    ['*.example.org', 'nas.example.org', true],
    ['*.example.org', 'example.org', false],
    ['n?s', 'nas', true],
    ['n?s', 'ns', false],
    ['*a*b', 'xaxbxab', true],
    ['*a*b', 'xaxbxa', false],
    ['a.b', 'axb', false],
    ['a**', 'a', true],
  ])('%s for %s: %s', (pattern, name, fits) => {
    expect(matches(pattern, name)).toBe(fits);
  });

  test('takes little time however many stars it has', () => {
    const started = process.cpuUsage();
    expect(matches(`${'*a'.repeat(40)}b`, 'a'.repeat(250))).toBe(false);
    expect(process.cpuUsage(started).user).toBeLessThan(500_000);
  });
});
