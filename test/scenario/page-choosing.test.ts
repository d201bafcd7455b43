/** The page of the real agent: what it suggests to protect, the directories of the machine, and how much a source is. */
// Turn 3 of 8.
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Directories, Estimate, Suggestions } from '../../src/api/schemas/page/protect.ts';
import { openPage, type DaemonPage } from '../support/daemon-page.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

let site: DaemonSite;
let page: DaemonPage;
const home = process.env['HOME'];

beforeAll(async () => {
  site = await openDaemonSite();
  page = await openPage(site.daemon);
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** That the agent of this test has started. */
function countingProcesses(): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return Number(parent) === process.pid && command.includes('size-estimate-main');
    } catch {
      // It has ended meanwhile.
      return false;
    }
  }).length;
}

async function get<T>(schema: object, path: string): Promise<T> {
  return (await page.ask<T>('GET', path, schema)).data;
}

async function estimate(body: object): Promise<Estimate> {
  return (await page.ask<Estimate>('POST', '/estimate', Estimate, body)).data;
}

function make(files: Readonly<Record<string, string>>, below: string): string {
  const root = join(site.directory, below);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, '..'), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

describe('suggestions', () => {
  test('begin with the home directory, and are directories that can be read', async () => {
    const { home: told, sources } = await get<Suggestions>(Suggestions, '/suggestions');
    expect(told).toBe(home);
    if (readdirSync(home ?? '/').length > 0) expect(sources[0]).toEqual({ path: home, kind: 'home' });
    for (const { path } of sources) expect(readdirSync(path).length).toBeGreaterThan(0);
  });
});

describe('directories', () => {
  test('are those in a directory, by name, without links, files and names that no setting can hold', async () => {
    const root = make({ 'b/x': '', 'a/x': '', '.hidden/x': '', file: '', 'ü <b>/x': '' }, 'choose');
    symlinkSync('/etc', join(root, 'link'));
    mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x62, 0xff, 0xfe])]));
    const listed = await get<Directories>(Directories, `/directories?path=${encodeURIComponent(root)}`);
    expect(listed).toEqual({
      path: root,
      parent: site.directory,
      home,
      items: [
        { name: '.hidden', path: join(root, '.hidden'), readable: true, hidden: true },
        { name: 'a', path: join(root, 'a'), readable: true, hidden: false },
        { name: 'b', path: join(root, 'b'), readable: true, hidden: false },
        { name: 'ü <b>', path: join(root, 'ü <b>'), readable: true, hidden: false },
      ],
      is_cut: false,
    });
  });

  test('without a path are those of the home directory; the top has no parent', async () => {
    expect((await get<Directories>(Directories, '/directories')).path).toBe(home);
    const top = await get<Directories>(Directories, '/directories?path=/');
    expect(top.parent).toBeNull();
    expect(top.items.map(({ path }) => path)).toContain('/proc');
  });

  test('are at most 2,000', async () => {
    const root = join(site.directory, 'many');
    for (let index = 0; index < 2_003; index += 1)
      mkdirSync(join(root, String(index).padStart(4, '0')), { recursive: true });
    const { items, is_cut: isCut } = await get<Directories>(Directories, `/directories?path=${root}`);
    expect([items.length, items.at(-1)?.name, isCut]).toEqual([2_000, '1999', true]);
  });

  test.each([
    ['/nowhere/at/all', 'INVALID_SOURCE', 'not_found'],
    ['/etc/passwd', 'INVALID_SOURCE', 'not_a_directory'],
  ])('of %s are refused with the reason', async (path, code, reason) => {
    const { status, error } = await page.refused('GET', `/directories?path=${path}`);
    expect([status, error?.code, error?.details]).toEqual([400, code, { path, reason }]);
  });

  test.each(['relative/path', `/${'x'.repeat(5_000)}`, '/a%00b', ''])(
    'of %s are no request at all',
    async (path) => {
      expect((await page.refused('GET', `/directories?path=${path}`)).status).toBe(400);
    },
  );
});

describe('an estimate', () => {
  test('counts what a backup would take, and names what it would leave out with the rule', async () => {
    const root = make(
      {
        'docs/a.txt': 'x'.repeat(1_000),
        'docs/b.txt': 'x'.repeat(500),
        'pics/c.jpg': 'x'.repeat(5_000),
        'top.txt': 'x',
        '.cache/big': 'x'.repeat(3_000),
        'tagged/CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55',
        'tagged/one': 'x'.repeat(50),
        'tagged/two/three': 'x'.repeat(50),
        'marked/.nobackup': '',
        'marked/kept-out': 'x'.repeat(10),
        'ruled/.holdfastignore': '*.tmp\n',
        'ruled/a.tmp': 'x'.repeat(70),
        'ruled/a.txt': 'x',
        'large/file.iso': 'x'.repeat(9_000),
      },
      'sizes',
    );
    const found = await estimate({ path: root, exclude: { largerThan: 8_000 } });
    expect(found).toEqual({
      path: root,
      // Tags, markers and lists of rules are kept.
      files: 8,
      directories: 6,
      bytes: 1_000 + 500 + 5_000 + 1 + 43 + 6 + 1,
      complete: true,
      unreadable: 0,
      excluded_files: 6,
      excluded: [
        { path: join(root, 'large/file.iso'), reason: 'larger_than', rule: null },
        { path: join(root, '.cache'), reason: 'pattern', rule: '.cache/' },
        { path: join(root, 'tagged'), reason: 'cache', rule: 'CACHEDIR.TAG' },
        { path: join(root, 'ruled/a.tmp'), reason: 'ignore_file', rule: '*.tmp' },
        { path: join(root, 'marked'), reason: 'if_present', rule: '.nobackup' },
      ],
      largest: [
        { path: join(root, 'pics'), bytes: 5_000, files: 1 },
        { path: join(root, 'docs'), bytes: 1_500, files: 2 },
        { path: join(root, 'tagged'), bytes: 43, files: 1 },
        { path: join(root, 'ruled'), bytes: 7, files: 2 },
        { path: join(root, 'large'), bytes: 0, files: 0 },
        { path: join(root, 'marked'), bytes: 0, files: 1 },
      ],
    });
  });

  test('goes by the rules that are given in the place of the default ones', async () => {
    const root = make({ '.cache/a': 'xx', 'b.log': 'x' }, 'rules');
    const { files, bytes, excluded } = await estimate({ path: root, exclude: { patterns: ['*.log'] } });
    expect([files, bytes]).toEqual([1, 2]);
    expect(excluded).toEqual([{ path: join(root, 'b.log'), reason: 'pattern', rule: '*.log' }]);
  });

  test('never takes in what is of Holdfast: state directory and local destinations', async () => {
    const store = join(site.directory, 'umlaut-ä-store');
    mkdirSync(store);
    writeFileSync(join(store, 'pack'), 'x'.repeat(100));
    await site.configure({ destinations: { disk: { url: store } } });
    const { excluded } = await estimate({ path: site.directory });
    const never = excluded.filter(({ reason }) => reason === 'never').map(({ path }) => path);
    expect(never.toSorted()).toEqual([site.state, store].toSorted());
    const { status, error } = await page.refused('POST', '/estimate', { path: site.state });
    expect([status, error?.code, error?.details]).toEqual([
      400,
      'INVALID_SOURCE',
      { path: site.state, reason: 'inside_state_directory' },
    ]);
  });

  test('of 100,000 files takes far less than 10 seconds, and the agent answers meanwhile', async () => {
    const root = join(site.directory, 'huge');
    for (let folder = 0; folder < 100; folder += 1) {
      mkdirSync(join(root, String(folder)), { recursive: true });
      for (let index = 0; index < 1_000; index += 1)
        writeFileSync(join(root, String(folder), String(index)), '');
      // The agent is in this process, and must not sleep through the end of its connections.
      await setImmediate();
    }
    const began = performance.now();
    const over = new AbortController();
    let slowest = 0;
    const answers = (async () => {
      while (!over.signal.aborted) {
        const asked = performance.now();
        await site.status();
        slowest = Math.max(slowest, performance.now() - asked);
      }
    })();
    const { files, complete } = await estimate({ path: root });
    const tookMs = performance.now() - began;
    over.abort();
    await answers;
    expect([files, complete]).toEqual([100_000, true]);
    expect(tookMs).toBeLessThan(10_000);
    expect(slowest).toBeLessThan(1_000);
  }, 120_000);

  test('stops after its time, with what it saw until then', async () => {
    const began = performance.now();
    const { complete, files } = await estimate({ path: '/', within: 1, exclude: { patterns: [] } });
    expect(complete).toBe(false);
    expect(files).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test.runIf(process.platform === 'linux')('ends its process when nobody waits for it any more', async () => {
    const closing = new AbortController();
    const body = { path: '/', within: 30, exclude: { patterns: [] } };
    const asked = page.fetch('POST', '/estimate', { body, signal: closing.signal });
    await eventually(() => countingProcesses() === 1, 'the process that counts');
    closing.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => countingProcesses() === 0, 'its end');
  });

  test.each([
    [{ path: '/nowhere' }, 'INVALID_SOURCE'],
    [{ path: 'relative' }, 'INVALID_REQUEST'],
    [{ path: '/etc', exclude: { patterns: ['['] } }, 'INVALID_REQUEST'],
    [{ path: '/etc', exclude: { largerThan: 'huge' } }, 'INVALID_REQUEST'],
    [{ path: '/etc', exclude: { ignoreFiles: ['a/b'] } }, 'INVALID_REQUEST'],
    [{ path: '/etc', exclude: { more: 1 } }, 'UNKNOWN_FIELD'],
    [{ path: '/etc', within: 31 }, 'INVALID_REQUEST'],
    [{}, 'MISSING_FIELD'],
  ])('of %j is refused', async (body, code) => {
    const { status, error } = await page.refused('POST', '/estimate', body);
    expect([status, error?.code]).toEqual([400, code]);
  });

  test('says how much cannot be read', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may read everything');
    const root = make({ 'closed/a': 'x', b: 'x' }, 'unreadable');
    chmodSync(join(root, 'closed'), 0);
    expect(await estimate({ path: root })).toMatchObject({ files: 1, unreadable: 1, complete: true });
    chmodSync(join(root, 'closed'), 0o700);
  });
});
