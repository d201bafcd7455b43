import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { parsePrivateKey } from '../../../../src/destination/sftp/private-key.ts';

const parse = (text: Buffer | string, passphrase?: string) => ssh2.utils.parseKey(text, passphrase);

const pairs = {
  'ssh-rsa': generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'ecdsa-sha2-nistp256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'ssh-ed25519': generateKeyPairSync('ed25519'),
} satisfies Readonly<Record<string, { readonly privateKey: KeyObject; readonly publicKey: KeyObject }>>;

test.each(Object.entries(pairs))('a key in PKCS#8 is taken: %s', (type, { privateKey }) => {
  const plain = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const key = parsePrivateKey(plain, undefined, parse);
  if (typeof key === 'string') throw new Error(key);
  expect(key.type).toBe(type);
  expect(key.verify('data', key.sign('data'))).toBe(true);
});

test('one that is encrypted needs its passphrase', () => {
  const { privateKey } = pairs['ssh-ed25519'];
  const text = Buffer.from(
    privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' }),
  );
  expect(typeof parsePrivateKey(text, 'right', parse)).toBe('object');
  for (const passphrase of [undefined, 'wrong'])
    expect(parsePrivateKey(text, passphrase, parse)).toBe(
      'is encrypted, and its passphrase is missing or wrong',
    );
});

test('of what SSH does not use, and what is no key, the reason is said', () => {
  const { privateKey } = generateKeyPairSync('x25519');
  const text = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  expect(parsePrivateKey(text, undefined, parse)).toContain('x25519');
  expect(parsePrivateKey(Buffer.from('nothing'), undefined, parse)).toContain('ssh-keygen -p -f KEY');
  expect(parsePrivateKey(Buffer.from('PuTTY-User-Key-File-3: ssh-rsa\n'), undefined, parse)).toContain(
    'puttygen',
  );
});
