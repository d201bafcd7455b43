/** A destination that loses everything while a backup runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { RepositoryError } from '../../src/base/errors.ts';
import { createMemoryDestination } from '../../src/destination/memory.ts';
import { never, openEngine, requestFor } from '../support/engine.ts';
import { hookedDestination } from '../support/hooked-destination.ts';

test('a destination that is emptied in the middle of a backup ends it without a snapshot', async () => {
  const inner = createMemoryDestination();
  await using engine = await openEngine({ destination: inner });
  writeFileSync(join(engine.source, 'file'), Buffer.alloc(100_000, 'x'));
  let emptied = false;
  const hooked = hookedDestination(inner, {
    put: async (key) => {
      if (emptied || !key.startsWith('packs/')) return;
      emptied = true;
      const keys: string[] = [];
      for await (const page of inner.list('', never)) keys.push(...page.map(({ key }) => key));
      for (const one of keys) await inner.delete(one, never);
    },
  });
  const repository = await engine.open(hooked);
  const outcome = await archive(requestFor(repository, [engine.source]), SILENT, never).catch(
    (e: unknown) => e,
  );
  expect(emptied).toBe(true);
  expect(outcome).toBeInstanceOf(RepositoryError);
  expect(outcome).toMatchObject({ code: 'NO_REPOSITORY' });
});
