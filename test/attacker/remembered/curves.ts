import * as real from '../../../src/codec/curves.ts';
import { Answers, textOf } from './answers.ts';

export * from '../../../src/codec/curves.ts';

const publicKeys = new Answers<Buffer>();

export function publicKeyOf(...[curve, own]: Parameters<typeof real.publicKeyOf>): Buffer {
  return Buffer.from(publicKeys.of(`${curve}|${textOf(own)}`, () => real.publicKeyOf(curve, own)));
}

const shared = new Answers<Buffer>();

export function agree(...[own, other]: Parameters<typeof real.agree>): Buffer {
  return Buffer.from(shared.of(`${textOf(own)}|${textOf(other)}`, () => real.agree(own, other)));
}

const verified = new Answers<boolean>();

export function verifyEd25519(...[key, message, signature]: Parameters<typeof real.verifyEd25519>): boolean {
  const question = `${textOf(key)}|${textOf(signature)}|${textOf(message)}`;
  return verified.of(question, () => real.verifyEd25519(key, message, signature));
}
