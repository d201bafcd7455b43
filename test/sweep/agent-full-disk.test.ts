/** The real agent while the disk that its state is on is full: a small file system that is mounted for the test. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeTree } from '../support/remove-tree.ts';
import { embeddedPlace, prepareAgent, startAgent, until } from './agent-program.ts';
import { whyNoDisk } from './full-disk.ts';

function mount(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', directory]);
}

/** A directory with a small disk in it; what engines note beside the state database has a disk of its own. */
function openDisk(): { readonly directory: string; readonly disk: string } & Disposable {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-agent-full-')));
  const disk = join(directory, 'disk');
  const engines = join(disk, 'state', 'repositories');
  mount(disk);
  mount(engines);
  return {
    directory,
    disk,
    [Symbol.dispose]() {
      for (const mounted of [engines, disk]) execFileSync('umount', ['--lazy', mounted]);
      removeTree(directory);
    },
  };
}

/** Leaves no byte free. */
function fill(path: string): void {
  for (let size = 1_048_576; size >= 1; size = Math.floor(size / 4)) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(size));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
}

function snapshotsIn(store: string): readonly string[] {
  const directory = join(store, 'snapshots');
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.tmp-'))
    .map(({ name }) => name);
}

test('a backup to another disk goes on, new jobs are refused, and all is as it was told once there is room', async ({
  skip,
}) => {
  const reason = whyNoDisk();
  if (reason !== undefined) skip(reason);
  using site = openDisk();
  const source = join(site.directory, 'source');
  const store = join(site.directory, 'store');
  mkdirSync(source);
  writeFileSync(join(source, 'large.bin'), randomBytes(6_000_000));
  const place = await prepareAgent(embeddedPlace(site.disk), {
    defaultDestination: 'store',
    destinations: { store: { url: store, passphrase: null } },
    bandwidth: [{ from: '00:00', uploadLimit: '4 MiB' }],
  });
  const agent = await startAgent(place);
  const { id } = await agent.submit('/backup', { source });
  await until('the upload', async () => (await agent.job('/backup', id)).phase === 'uploading' || undefined);
  const filler = join(site.disk, 'filler');
  fill(filler);

  const refused = await agent.ask('POST', '/backup', { source, options: { tags: ['refused'] } });
  expect(refused).toMatchObject({ status: 507, code: 'INSUFFICIENT_STORAGE' });
  await until('the snapshot', () => snapshotsIn(store).length > 0 || undefined);
  expect(await agent.job('/backup', id)).toMatchObject({ status: 'running', attempt: 1 });
  const isStated = async (): Promise<boolean> => {
    const { status, data } = await agent.ask('GET', '/status');
    expect(status).toBe(200);
    const { checks } = data as {
      readonly checks: readonly { readonly name: string; readonly status: string }[];
    };
    return checks.some((check) => check.name === 'state' && check.status === 'error');
  };
  expect(await isStated()).toBe(true);

  rmSync(filler);
  const job = await agent.finished('/backup', id);
  expect(job).toMatchObject({ status: 'completed', attempt: 1, snapshot_id: expect.any(String) });
  expect(await isStated()).toBe(false);
  await agent.kill('agent and engines');
  const next = await startAgent(place);
  const { data } = await next.ask('GET', '/backup');
  const waiting = (data as { items: readonly { id: string; status: string }[] }).items.filter(
    (one) => one.status !== 'canceled',
  );
  expect(waiting).toMatchObject([{ id, status: 'completed' }]);
  expect(await next.stop()).toBe(0);
  expect(snapshotsIn(store)).toHaveLength(1);
});
