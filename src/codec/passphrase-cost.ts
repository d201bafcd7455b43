/** Decides how costly new passphrase slots are to guess. */
import { StateError } from '../base/errors.ts';
import { DEFAULT_COST, SMALL_MACHINE_COST, type Argon2Cost } from './kdf.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Cost of new passphrase slots. @throws {StateError} */
export function passphraseCost(env: Environment, memoryBytes: number): Argon2Cost {
  return testCost(env) ?? (memoryBytes < 2 ** 31 ? SMALL_MACHINE_COST : DEFAULT_COST);
}

/** `HOLDFAST_TEST_KDF=m,t,p`: a weak passphrase cost, for tests only. @throws {StateError} */
export function testCost(env: Environment): Argon2Cost | undefined {
  const text = env['HOLDFAST_TEST_KDF'] ?? '';
  if (text === '') return undefined;
  const [m, t, p] = text.split(',').map(Number);
  if (m === undefined || t === undefined || p === undefined || ![m, t, p].every(Number.isSafeInteger)) {
    throw new StateError('TEST_KDF', `HOLDFAST_TEST_KDF is "${text}"`, {
      hint: 'It is for tests: memory in KiB, passes, lanes, as in 64,1,1.',
    });
  }
  return { m, t, p };
}
