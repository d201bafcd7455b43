import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { RepositoryKeeper, type OpenRequest } from '../../../src/engine/open-repository.ts';
import { never } from '../../support/engine.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-typable-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function requestWith(text: string): OpenRequest {
  return {
    destination: {
      name: 'nas',
      url: join(directory, 'store'),
      access: undefined,
      person: undefined,
      secret: { kind: 'passphrase', text },
      repositoryId: null,
      uploadLimit: null,
    },
    stateDirectory: join(directory, 'state'),
    absent: 'create',
  };
}

test('the agent makes no repository with a passphrase that nobody could type, and says why one does not open', async () => {
  const engine = { clock: systemClock, env: { HOLDFAST_TEST_KDF: '64,1,1' } };
  const keeper = new RepositoryKeeper(engine);
  await expect(keeper.open(requestWith('open sesame\nand more'), never)).rejects.toMatchObject({
    code: 'REFUSED',
    message: 'The passphrase of the destination "nas" has more than one line',
  });
  expect(readdirSync(join(directory, 'store'))).toEqual([]);
  await keeper.open(requestWith('open sesame'), never);
  await keeper.close();
  const other = new RepositoryKeeper(engine);
  await expect(other.open(requestWith('open sesame\n'), never)).rejects.toMatchObject({
    code: 'WRONG_PASSPHRASE',
    message: 'The passphrase ends with a line break',
  });
  await other.close();
});
