/** The catalog of a repository on disk, with its threads. */
// Turn 3 of 8.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { treePath } from '../../src/base/tree-path.ts';
import { openCatalog, type Catalog } from '../../src/catalog/catalog.ts';
import { catalogPath } from '../../src/catalog/tables/catalog-database.ts';
import type { RepositoryAccess } from '../../src/catalog/messages.ts';
import { versionsOf } from '../../src/catalog/answers/path-versions.ts';
import type { FileQuery, FileVersion } from '../../src/jobs/agent.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import { forgetSnapshots } from '../../src/repository/snapshots.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { moduleUrl, startScript } from '../support/run-script.ts';

interface Site extends AsyncDisposable {
  readonly engine: Engine;
  readonly access: RepositoryAccess;
  readonly file: string;
  open(onDamaged?: () => void): Catalog;
  sync(catalog: Catalog, signal?: AbortSignal): ReturnType<Catalog['sync']>;
}

async function openSite(): Promise<Site> {
  const engine = await openEngine({ destination: 'local' });
  const access: RepositoryAccess = {
    url: engine.store,
    secret: { kind: 'machine', base64: engine.secret.secret.toString('base64') },
  };
  const stateDirectory = join(engine.directory, 'state');
  const repositoryId = engine.repository.id;
  return {
    engine,
    access,
    file: catalogPath(stateDirectory, repositoryId),
    open: (onDamaged) => openCatalog({ stateDirectory, repositoryId, ...(onDamaged && { onDamaged }) }),
    sync: async (catalog, signal = never) => await catalog.sync(access, () => undefined, signal),
    [Symbol.asyncDispose]: async () => await engine[Symbol.asyncDispose](),
  };
}

function query(parts: Partial<FileQuery>): FileQuery {
  return { snapshot: 'latest', view: 'flat', sort: 'path', limit: 100, ...parts };
}

async function found(catalog: Catalog, q: string): Promise<readonly string[]> {
  return (await catalog.files(query({ q }))).items.map(({ name }) => name);
}

async function versions(catalog: Catalog, path: string): Promise<readonly FileVersion[]> {
  return versionsOf([await catalog.states(path, undefined)], path);
}

function makeFiles(directory: string, count: number): void {
  for (let i = 0; i < count; i += 1) {
    const below = join(directory, `d${i % 50}`);
    if (i < 50) mkdirSync(below);
    writeFileSync(join(below, `file-${i}.txt`), String(i));
  }
}

describe('the catalog', () => {
  it('is empty at first, then knows what was backed up, and what was forgotten no more', async () => {
    await using site = await openSite();
    const { engine } = site;
    await using catalog = site.open();
    expect(await catalog.files(query({}))).toMatchObject({ items: [], next: null });
    writeFileSync(join(engine.source, 'Letter.txt'), 'one');
    const { snapshot: first } = await engine.backup([engine.source], { tags: ['job:bkp_1', 'mine'] });
    renameSync(join(engine.source, 'Letter.txt'), join(engine.source, 'Answer.txt'));
    const { snapshot: second } = await engine.backup();

    const report = await site.sync(catalog);

    expect(report).toMatchObject({ forgotten: 0, unreadableCount: 0, damagedSnapshots: [] });
    expect(report.added.toSorted()).toEqual([first?.id ?? '', second?.id ?? ''].toSorted());
    expect(await found(catalog, 'LETTER')).toEqual([]);
    expect(await found(catalog, 'answer')).toEqual(['Answer.txt']);
    const { items } = await catalog.files(query({ snapshot: 'latest', backupId: 'bkp_1', q: 'l?tter*' }));
    expect(items).toMatchObject([
      {
        name: 'Letter.txt',
        snapshot_id: first?.id,
        backup_id: 'bkp_1',
        source: engine.source,
        size_bytes: 3,
      },
    ]);
    expect(await catalog.snapshots({ limit: 10 })).toMatchObject([
      { id: second?.id, complete: true },
      { id: first?.id, tags: ['mine'], backup_id: 'bkp_1', files: 1 },
    ]);
    const changes = await catalog.diff({
      id: second?.id ?? '',
      base: undefined,
      limit: 10,
      after: undefined,
    });
    expect(changes.items.map(({ path, change }) => `${change} ${path.split('/').at(-1) ?? ''}`)).toEqual([
      'added Answer.txt',
      'removed Letter.txt',
    ]);

    await forgetSnapshots(engine.repository, [first?.id ?? ''], 'test', never);
    expect(await site.sync(catalog)).toMatchObject({ added: [], forgotten: 1 });
    expect((await catalog.snapshots({ limit: 10 })).map(({ id }) => id)).toEqual([second?.id]);
    await expect(catalog.files(query({ snapshot: first?.id ?? '' }))).rejects.toMatchObject({
      code: 'SNAPSHOT_NOT_FOUND',
    });
    await expect(versions(catalog, join(engine.source, 'Letter.txt'))).rejects.toMatchObject({
      code: 'PATH_NOT_IN_SNAPSHOT',
    });
  });

  it('keeps names that are not UTF-8 and finds them by what can be read of them', async () => {
    await using site = await openSite();
    const { engine } = site;
    await using catalog = site.open();
    writeFileSync(Buffer.concat([Buffer.from(`${engine.source}/Caf`), Buffer.from([0xe9])]), '');
    writeFileSync(join(engine.source, 'CAFÉ'), '');
    await engine.backup();
    await site.sync(catalog);

    const { items } = await catalog.files(query({ q: 'caf' }));
    const bytes = Buffer.from(items[1]?.path_b64 ?? '', 'base64');
    expect(items.map(({ name, path_b64 }) => [name, path_b64 === null])).toEqual([
      ['CAFÉ', true],
      ['Caf\uFFFD', false],
    ]);
    expect(bytes.subarray(-4)).toEqual(Buffer.from([0x43, 0x61, 0x66, 0xe9]));
    expect(await found(catalog, 'café')).toEqual(['CAFÉ']);
    expect(await versions(catalog, bytes.toString('latin1'))).toMatchObject([{ change: 'added' }]);
  });

  it('answers while it is being filled, and goes on after it was interrupted', async () => {
    await using site = await openSite();
    await using catalog = site.open();
    makeFiles(site.engine.source, 2_000);
    await site.engine.backup();
    const stop = new AbortController();
    const interrupted = site.sync(catalog, stop.signal);
    await catalog.snapshots({ limit: 1 });
    stop.abort();
    await expect(interrupted).rejects.toMatchObject({ name: 'AbortError' });

    await site.sync(catalog);
    expect((await catalog.files(query({ type: 'file', limit: 1_000 }))).items).toHaveLength(1_000);
    expect(await found(catalog, 'file-1999')).toEqual(['file-1999.txt']);
  });

  it.each([1, 2, 4])('is brought up to date after the process was killed, try %i', async (part) => {
    await using site = await openSite();
    const { engine } = site;
    makeFiles(engine.source, 1_500);
    await engine.backup();
    rmSync(join(engine.source, 'd7'), { recursive: true });
    writeFileSync(join(engine.source, 'd8', 'new.txt'), '');
    await engine.backup();
    await killedSync(site, part * 14);

    await using catalog = site.open();
    await site.sync(catalog);

    for (const snapshot of await engine.snapshots()) {
      const expected = [...(await engine.treeOf(snapshot)).keys()];
      const { items } = await catalog.files(query({ snapshot: snapshot.id, limit: 10_000 }));
      expect(items.map(({ path }) => treePath(path))).toEqual(expected);
    }
  });

  it('says that a snapshot is incomplete when a tree of it is damaged, and lists the rest', async () => {
    await using site = await openSite();
    const { engine } = site;
    await using catalog = site.open();
    writeFileSync(join(engine.source, 'kept.txt'), '');
    const { snapshot: sound } = await engine.backup();
    await site.sync(catalog);
    const before = new Set(await packs(engine));
    writeFileSync(join(engine.source, 'lost.txt'), '');
    const { snapshot: broken } = await engine.backup();
    for (const pack of await packs(engine)) if (!before.has(pack)) rmSync(join(engine.store, packKey(pack)));

    const report = await site.sync(catalog);

    expect(report.unreadableCount).toBe(1);
    expect(report.unreadable).toMatchObject([{ snapshotId: broken?.id, path: '/' }]);
    expect(await catalog.snapshot(broken?.id ?? '')).toMatchObject({ complete: true, unreadable: 1 });
    expect(await catalog.snapshot(sound?.id ?? '')).toMatchObject({ unreadable: 0 });
    expect((await catalog.files(query({ snapshot: sound?.id ?? '', q: 'kept' }))).items).toHaveLength(1);
    const told = await versions(catalog, join(engine.source, 'kept.txt'));
    expect(told.map(({ change }) => change)).toEqual(['added']);

    writeFileSync(join(engine.source, 'again.txt'), '');
    const { snapshot: whole } = await engine.backup([engine.source], { parent: 'none' });
    await site.sync(catalog);
    expect(await catalog.snapshot(whole?.id ?? '')).toMatchObject({ unreadable: 0 });
    expect(await found(catalog, '*.txt')).toEqual(['again.txt', 'kept.txt', 'lost.txt']);
  });

  it('is built again when its file is damaged', async () => {
    await using site = await openSite();
    makeFiles(site.engine.source, 200);
    await site.engine.backup();
    {
      await using catalog = site.open();
      await site.sync(catalog);
    }
    const damaged = Buffer.alloc(8_192, 1);
    writeFileSync(site.file, damaged);
    await using catalog = site.open();
    expect(await catalog.snapshots({ limit: 1 })).toEqual([]);
    expect(readFileSync(`${site.file}.damaged`).equals(damaged)).toBe(true);
    await site.sync(catalog);
    expect(await found(catalog, 'file-199')).toEqual(['file-199.txt']);
  });

  it('is built again when damage shows only in use, and says so until then', async () => {
    await using site = await openSite();
    makeFiles(site.engine.source, 2_000);
    await site.engine.backup();
    {
      await using catalog = site.open();
      await site.sync(catalog);
    }
    spoil(site.file);
    let told = 0;
    await using catalog = site.open(() => {
      told += 1;
    });
    const asked = catalog.files(query({ sort: 'modified', q: 'file' }));
    await expect(asked).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(told).toBe(1);
    await expect(catalog.snapshots({ limit: 1 })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });

    await site.sync(catalog);
    expect(existsSync(`${site.file}.damaged`)).toBe(true);
    expect(await found(catalog, 'file-199.txt')).toEqual(['file-199.txt']);
    expect(told).toBe(1);
  });

  it('refuses another repository, and passes on what the repository says', async () => {
    await using site = await openSite();
    await using other = await openSite();
    await using catalog = site.open();
    const elsewhere = catalog.sync(other.access, () => undefined, never);
    await expect(elsewhere).rejects.toMatchObject({ side: 'repository', code: 'REFUSED' });
    const wrong: RepositoryAccess = {
      ...site.access,
      secret: { kind: 'machine', base64: Buffer.alloc(32).toString('base64') },
    };
    await expect(catalog.sync(wrong, () => undefined, never)).rejects.toMatchObject({
      code: 'WRONG_PASSPHRASE',
    });
  });

  it('does not continue a list of a catalog that was built anew', async () => {
    await using site = await openSite();
    makeFiles(site.engine.source, 60);
    await site.engine.backup();
    let next: string | null;
    {
      await using catalog = site.open();
      await site.sync(catalog);
      ({ next } = await catalog.files(query({ limit: 5 })));
    }
    expect(next).not.toBeNull();
    rmSync(site.file);
    await using catalog = site.open();
    await site.sync(catalog);
    const goOn = catalog.files(query({ limit: 5, after: next ?? '' }));
    await expect(goOn).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    await expect(catalog.files(query({ after: 'x' }))).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });
});

/** Overwrites everything but the first page, which tells what tables there are. */
function spoil(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, 4_096));
}

async function packs({ repository }: Engine): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of repository.destination.list('packs/', never)) {
    for (const { key } of page) names.push(key.slice(key.lastIndexOf('/') + 1));
  }
  return names;
}

/** A run whose process dies after it has gone through so many directories. */
async function killedSync(site: Site, directories: number): Promise<void> {
  const script = `
    import { systemClock } from '${moduleUrl('src/base/clock.ts')}';
    import { openForWriting, prepareCatalog } from '${moduleUrl('src/catalog/tables/catalog-database.ts')}';
    import { syncCatalog } from '${moduleUrl('src/catalog/ingest/sync.ts')}';
    import { openLocalDestination } from '${moduleUrl('src/destination/local/local.ts')}';
    import { openRepository } from '${moduleUrl('src/repository/opening.ts')}';
    const [store, secret, file, directories] = process.argv.slice(2);
    const { signal } = new AbortController();
    const repository = await openRepository(
      await openLocalDestination(store),
      { kind: 'machine', secret: Buffer.from(secret, 'base64') },
      { clock: systemClock, stateDirectory: undefined },
      signal,
    );
    prepareCatalog(file);
    const database = openForWriting(file);
    let left = Number(directories);
    await syncCatalog(database, repository, () => {
      left -= 1;
      // What was written so far stands in the file or not at all, as it happens to be.
      if (left % 7 === 0 && database.inTransaction) database.exec('COMMIT; BEGIN');
      if (left === 0) process.kill(process.pid, 'SIGKILL');
    }, signal);`;
  const secret = site.access.secret.kind === 'machine' ? site.access.secret.base64 : '';
  const child = startScript(script, { args: [site.engine.store, secret, site.file, String(directories)] });
  const signal = await new Promise<string | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (_, name) => resolve(name));
  });
  expect(signal).toBe('SIGKILL');
}
