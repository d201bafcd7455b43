/** recover.py and what whoever has a write-only key can plant: what the administrator has signed, in other places. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { forgetSnapshots } from '../../src/repository/snapshots.ts';
import { readTombstones } from '../../src/repository/tombstones.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { never, openEngine } from '../support/engine.ts';
import { removeTree } from '../support/remove-tree.ts';
import { writeOnlyHost } from '../support/write-only-host.ts';
import { thiefWith } from '../support/write-only-thief.ts';
import { openRecoverProgram, type RecoverProgram } from './program.ts';

const found = await startOrSkip(openRecoverProgram);
if ('missing' in found) test.skip(`recover.py was not tested: ${found.missing}`, () => {});
else describe('recover.py', () => tests(found.server));

function tests(program: RecoverProgram): void {
  it('goes by what is signed for its place, and restores', async () => {
    await using engine = await openEngine({ destination: 'local' });
    writeFileSync(path.join(engine.source, 'file'), 'what was in it');
    const host = await writeOnlyHost(engine, 'server');
    const thief = thiefWith(await host.open());
    const { snapshot: gone } = await engine.backup();
    await forgetSnapshots(host.full, [gone.id], 'test', never);
    const { snapshot } = await engine.backup();
    const [mark] = (await readTombstones(host.full, never)).all;
    const { writer } = snapshot.chain;
    const place = { writer, seq: 3_000_000_000, prev: snapshot.id };
    const planted = await thief.tombstoneAgain(mark?.name ?? '', place);
    await thief.configAgain('config/1', 7);
    await thief.configAgain('config/1', Number.MAX_SAFE_INTEGER);

    const home = mkdtempSync(path.join(tmpdir(), 'holdfast-recover-'));
    try {
      const secret = path.join(home, 'machine.key');
      writeFileSync(secret, engine.secret.secret.toString('hex'));
      const target = path.join(home, 'target');
      const words = [engine.store, '--machine-key-file', secret, 'restore', snapshot.id, target];
      const { code, stderr } = await program.run(words);
      expect(stderr).toContain('config/7');
      expect(stderr).toContain(planted);
      expect(code).toBe(0);
      expect(readFileSync(path.join(target, engine.source, 'file'), 'utf8')).toBe('what was in it');
    } finally {
      removeTree(home);
    }
  });
}
