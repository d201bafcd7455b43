/** A machine that has nothing of the lost one but its repository and the recovery code: the agent carries on with that. */
// Turn 3 of 8.
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { formatRecoveryCode } from '../../src/codec/recovery-code.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createRepository } from '../../src/repository/opening.ts';
import { eventually, openDaemonSite } from '../support/daemon-site.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { tinyBackup } from '../support/tiny-archiver.ts';

const { signal } = new AbortController();

it('opens the repository where the settings name it as the passphrase, stores nothing again, and finds files', async () => {
  await using site = await openDaemonSite();
  // One chunk, wherever the repository's key would have cut a longer file.
  const content = seededRandom(4).bytes(100_000);
  const [url, code] = [join(site.directory, 'repository'), randomBytes(32)];
  const created = await createRepository(
    await openLocalDestination(url, { create: true }),
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'recovery', secret: code }, label: 'recovery code' }],
      cost: { m: 64, t: 1, p: 1 },
    },
    signal,
  );
  const tree = { 'letter.txt': content };
  await tinyBackup(created, tree, { record: { paths: [bytesOfText(site.source)] } }, signal);
  await created.close();

  site.write(tree);
  const file = join(site.state, 'code');
  writeFileSync(file, formatRecoveryCode(code), { mode: 0o600 });
  await site.configure({ defaultDestination: 'old', destinations: { old: { url, passphrase: { file } } } });
  const job = await site.backUp();
  expect(job).toMatchObject({ status: 'completed', error: null });
  expect(job.progress.bytes_uploaded).toBeLessThan(20_000);
  // An identity of its own beside that of the lost machine.
  expect(readdirSync(join(url, 'heads'))).toHaveLength(2);
  const found = await eventually(async () => {
    const { data } = await site.get<{ data?: { items: readonly { name: string }[] } }>('/v1/files?q=letter');
    return data?.items[0]?.name;
  }, 'the file in the catalog');
  expect(found).toBe('letter.txt');
});
