import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatRecoveryCode } from '../../../src/codec/recovery-code.ts';
import type { Place } from '../../../src/daemon/places/destinations.ts';
import { createPassphraseGuesses, PassphraseCheck } from '../../../src/daemon/page/passphrase-check.ts';
import { openDestination } from '../../../src/destination/open/open.ts';
import { createRepository } from '../../../src/repository/opening.ts';
import { manualClock } from '../../support/manual-clock.ts';

const { signal } = new AbortController();
const recovery = randomBytes(32);
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-passphrase-'));
  const destination = await openDestination(join(directory, 'repository'), { create: true });
  const repository = await createRepository(
    destination,
    {
      clock: manualClock(),
      stateDirectory: join(directory, 'state'),
      secrets: [
        { secret: { kind: 'passphrase', text: 'four words' }, label: 'a' },
        { secret: { kind: 'recovery', secret: recovery }, label: 'b' },
      ],
      cost: { m: 64, t: 1, p: 1 },
    },
    signal,
  );
  await repository.close();
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function check() {
  const clock = manualClock();
  const location = join(directory, 'repository');
  const place: Place = {
    name: 'disk',
    url: `file://${location}`,
    location,
    shown: location,
    directory: location,
    passphrase: null,
    access: undefined,
  };
  const destinations = { find: () => place };
  const secrets = { env: {}, home: '/home/ana', clock };
  const guesses = createPassphraseGuesses(clock);
  return { clock, checking: new PassphraseCheck({ destinations, secrets, guesses, weakCost: true }) };
}

describe('what somebody typed', () => {
  test('opens as the passphrase, and as the recovery code however that is typed', async () => {
    const { checking } = check();
    const code = formatRecoveryCode(recovery);
    for (const right of ['four words', code, ` ${code.toLowerCase()}\n`])
      expect(await checking.try('disk', right, signal), right).toEqual({ opens: true });
    const mistyped = code.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'));
    const other = formatRecoveryCode(randomBytes(32));
    for (const wrong of ['four word', 'Four words', 'four words ', mistyped, other])
      expect(await checking.try('disk', wrong, signal), wrong).toEqual({ opens: false });
  });

  test('may be wrong 10 times in any minute; right ones do not count', async () => {
    const { checking, clock } = check();
    for (let count = 0; count < 10; count += 1) {
      expect(await checking.try('disk', 'wrong', signal)).toEqual({ opens: false });
      expect(await checking.try('disk', 'four words', signal)).toEqual(
        count < 9 ? { opens: true } : { retryAfterMs: 60_000 - 9 * 1_000 },
      );
      await clock.advance(1_000);
    }
    await clock.advance(49_999);
    expect(await checking.try('disk', 'four words', signal)).toEqual({ retryAfterMs: 1 });
    await clock.advance(1);
    expect(await checking.try('disk', 'wrong', signal)).toEqual({ opens: false });
    expect(await checking.try('disk', 'wrong', signal)).toEqual({ retryAfterMs: 1_000 });
  });
});
