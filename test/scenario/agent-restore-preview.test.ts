/** What a restore would overwrite, keep and delete, asked of the real agent before it is done. */
// Turn 2 of 8.
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RestorePreview } from '../../src/api/schemas/page/jobs.ts';
import { Restore } from '../../src/api/schemas/job.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { openPage, type DaemonPage } from '../support/daemon-page.ts';
import { namesBelow } from '../support/names-below.ts';
import { restoredPath } from '../support/restored-path.ts';

async function previewOf(
  site: DaemonSite,
  page: DaemonPage,
  request: object,
): Promise<{ readonly preview: RestorePreview; readonly job: Restore }> {
  const made = await page.ask<Restore>('POST', '/restore', Restore, request);
  await site.ended(made.data.id);
  const job = await page.ask<Restore>('GET', `/restore/${made.data.id}`, Restore);
  const preview = await page.ask<RestorePreview>('GET', `/restore-preview/${made.data.id}`, RestorePreview);
  return { preview: preview.data, job: job.data };
}

it('says what a restore in place would overwrite, keep and delete, and changes nothing', async () => {
  await using site = await openDaemonSite();
  site.write({ changed: 'one', same: 'two', gone: 'three', 'deep/also gone': 'four', link: 'x' });
  const { snapshot_id: snapshot } = await site.backUp();
  site.write({ changed: 'mine now', 'deep/extra': 'x', extra: 'y' });
  // A name that is no text.
  writeFileSync(Buffer.concat([Buffer.from(`${site.source}/`), Buffer.from([0x62, 0xff])]), 'z');
  rmSync(join(site.source, 'gone'));
  rmSync(join(site.source, 'deep/also gone'));
  const before = new Set(namesBelow(site.source));
  const page = await openPage(site.daemon);
  const options = { dry_run: true, overwrite: 'if_changed', delete_extra: true };
  const { preview, job } = await previewOf(site, page, { snapshot_id: snapshot, in_place: true, options });
  expect(preview).toEqual({
    files_new: 2,
    files_overwritten: 1,
    files_kept: 0,
    files_unchanged: 2,
    files_deleted: 3,
    bytes: 'one'.length + 'three'.length + 'four'.length,
    items: [
      { path: join(site.source, 'b\ufffd'), what: 'deleted' },
      { path: join(site.source, 'changed'), what: 'overwritten' },
      { path: join(site.source, 'deep/extra'), what: 'deleted' },
      { path: join(site.source, 'extra'), what: 'deleted' },
    ],
    is_cut: false,
  });
  expect(job).toMatchObject({ status: 'completed', files_restored: 3, files_skipped: 2 });
  expect(new Set(namesBelow(site.source))).toEqual(before);
  expect(readFileSync(join(site.source, 'changed'), 'utf8')).toBe('mine now');

  const kept = await previewOf(site, page, {
    snapshot_id: snapshot,
    in_place: true,
    options: { dry_run: true },
  });
  expect(kept.preview).toMatchObject({ files_new: 2, files_overwritten: 0, files_kept: 3, files_deleted: 0 });
  expect(kept.preview.items).toContainEqual({ path: join(site.source, 'changed'), what: 'kept' });
});

it('shows the paths of another target, and what stands where a directory would be', async () => {
  await using site = await openDaemonSite();
  site.write({ 'dir/a': 'one', b: 'two' });
  const { snapshot_id: snapshot } = await site.backUp();
  const target = join(site.directory, 'target');
  const page = await openPage(site.daemon);
  const ask = { snapshot_id: snapshot, target };
  const empty = await previewOf(site, page, { ...ask, options: { dry_run: true } });
  expect(empty.preview).toMatchObject({ files_new: 2, items: [], is_cut: false });

  mkdirSync(restoredPath(target, site.source), { recursive: true });
  const inTheWay = restoredPath(target, site.source, 'dir');
  writeFileSync(inTheWay, 'no directory');
  utimesSync(inTheWay, 1, 1);
  const { preview } = await previewOf(site, page, {
    ...ask,
    options: { dry_run: true, overwrite: 'always' },
  });
  expect(preview).toMatchObject({ files_new: 2, files_overwritten: 1 });
  expect(preview.items).toEqual([{ path: inTheWay, what: 'overwritten' }]);
});

it('names a thousand paths, what would be lost before what stays', async () => {
  await using site = await openDaemonSite();
  const names = Array.from({ length: 1_200 }, (_, index) => `f${String(index).padStart(4, '0')}`);
  site.write(Object.fromEntries(names.map((name) => [name, name])));
  const { snapshot_id: snapshot } = await site.backUp();
  site.write({ zz: 'extra' });
  const page = await openPage(site.daemon);
  const { preview } = await previewOf(site, page, {
    snapshot_id: snapshot,
    in_place: true,
    options: { dry_run: true, delete_extra: true },
  });
  expect(preview).toMatchObject({ files_kept: 1_200, files_deleted: 1, is_cut: true });
  expect(preview.items).toHaveLength(1_000);
  expect(preview.items.at(-1)).toEqual({ path: join(site.source, 'zz'), what: 'deleted' });
  expect(preview.items[0]).toEqual({ path: join(site.source, 'f0000'), what: 'kept' });
});

it('has none of a restore that was done, is not over, or is not known', async () => {
  await using site = await openDaemonSite();
  site.write({ a: 'one' });
  const { snapshot_id: snapshot, id: backup } = await site.backUp();
  const page = await openPage(site.daemon);
  const made = await page.ask<Restore>('POST', '/restore', Restore, {
    snapshot_id: snapshot,
    target: join(site.directory, 'target'),
  });
  await site.ended(made.data.id);
  const done = await page.refused('GET', `/restore-preview/${made.data.id}`);
  expect([done.status, done.error?.code]).toEqual([404, 'NOT_FOUND']);
  expect(done.error?.message).toMatch(/not a dry run/);
  await site.agent.pause(null, false);
  const waiting = await page.ask<Restore>('POST', '/restore', Restore, {
    snapshot_id: snapshot,
    in_place: true,
    options: { dry_run: true },
  });
  const early = await page.refused('GET', `/restore-preview/${waiting.data.id}`);
  expect([early.status, early.error?.details]).toEqual([404, { status: 'queued' }]);
  for (const id of [backup, 'rst_none']) {
    const other = await page.refused('GET', `/restore-preview/${id}`);
    expect([other.status, other.error?.code]).toEqual([404, 'RESTORE_NOT_FOUND']);
  }
});
