import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { formatRecoveryCode } from '../../../src/codec/recovery-code.ts';
import { secretHanded } from '../../../src/repository/slots/typed-secret.ts';

it('is a recovery code where one stands in place of the passphrase, for the agent as for the command line', () => {
  const secret = randomBytes(32);
  const text = `${formatRecoveryCode(secret)}\n`;
  expect(secretHanded({ kind: 'passphrase', text })).toEqual({ kind: 'recovery', secret });
  expect(secretHanded({ kind: 'passphrase', text: 'a passphrase' })).toEqual({
    kind: 'passphrase',
    text: 'a passphrase',
  });
  expect(secretHanded({ kind: 'machine', base64: secret.toString('base64') })).toEqual({
    kind: 'machine',
    secret,
  });
});
