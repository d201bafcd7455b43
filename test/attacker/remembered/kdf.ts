import * as real from '../../../src/codec/kdf.ts';
import { Answers, textOf } from './answers.ts';

export * from '../../../src/codec/kdf.ts';

const expanded = new Answers<Buffer>();

export function expand(...[key, info, length]: Parameters<typeof real.expand>): Buffer {
  const about = typeof info === 'string' ? info : textOf(info);
  const question = `${length}|${textOf(key)}|${about}`;
  return Buffer.from(expanded.of(question, () => real.expand(key, info, length)));
}

const extracted = new Answers<Buffer>();

export function hkdf(...[secret, salt, info, length]: Parameters<typeof real.hkdf>): Buffer {
  const about = typeof info === 'string' ? info : textOf(info);
  const question = `${length}|${textOf(secret)}|${textOf(salt)}|${about}`;
  return Buffer.from(extracted.of(question, () => real.hkdf(secret, salt, info, length)));
}
