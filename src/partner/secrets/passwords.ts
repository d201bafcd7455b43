/** Hashes and checks passwords of partners: argon2id in its usual text form, with the parameters that OWASP recommends. */
import { hash, verify } from '@node-rs/argon2';
import { RequestError } from '../../base/errors.ts';
import { isLossy } from '../../base/people-text.ts';

/** NIST SP 800-63B requires at least this length where there is no second factor, and room for whole sentences. */
const SHORTEST = 12;
const LONGEST = 256;

/** 19 MiB, two passes, one lane (OWASP, Password Storage Cheat Sheet); 2 is argon2id. */
const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** @throws {RequestError} WEAK_PASSWORD */
export async function hashPassword(password: string): Promise<string> {
  if (isLossy(password)) {
    throw new RequestError('WEAK_PASSWORD', 'The password has characters that could not be read', {
      hint: 'Enter it again, in a program that sends UTF-8.',
    });
  }
  const text = password.normalize('NFC');
  if (text.length < SHORTEST || text.length > LONGEST) {
    throw new RequestError('WEAK_PASSWORD', `The password has ${text.length} characters`, {
      hint: `Use ${SHORTEST} to ${LONGEST}, for example a few words that nobody would guess.`,
    });
  }
  return await hash(text, COST);
}

/** Takes the same time for an account that does not exist, for which `known` is undefined. */
export async function isPassword(password: string, known: string | undefined): Promise<boolean> {
  const text = password.normalize('NFC').slice(0, LONGEST + 1);
  const matches = await verify(known ?? (await nobodys()), text);
  return matches && known !== undefined;
}

let ofNobody: Promise<string> | undefined;

async function nobodys(): Promise<string> {
  ofNobody ??= hash(crypto.randomUUID(), COST);
  return await ofNobody;
}
