/**
 * Snapshots as a folder, opened with programs that others made: rclone and cadaver list it, read parts of files, and copy a
 * whole snapshot, which then is what a restore of it brings.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asByteString, joinBytes, textOfBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import { debianPrograms } from '../servers/debian-programs.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { makeTortureTree } from '../support/torture-tree.ts';

/** What cannot be shown in such a folder at all, a gibibyte of holes, and 30,000 files, which take minutes. */
const LEFT_OUT = ['sparse', 'special', 'beyond-path-max', 'owners', 'xattrs', 'acls', 'many'] as const;
/** Nanoseconds. */
const SECOND = 1_000_000_000n;
/** Entries of a folder that is listed in more than one piece. */
const CROWD = 2_500;

let site: DaemonSite;
let address: string;
/** In the folder, without the last slash. */
let snapshot: string;
/** Where a restore has put the same snapshot. */
let restored: string;

beforeAll(async () => {
  site = await openDaemonSite();
  await makeTortureTree(site.source, { without: LEFT_OUT });
  mkdirSync(join(site.source, 'crowd'));
  for (let index = 0; index < CROWD; index += 1)
    writeFileSync(join(site.source, 'crowd', `entry ${index}`), `${index}\n`);
  // Neither program can set such a time.
  rmSync(join(site.source, 'times/file-2400'));
  const backup = await site.backUp();
  expect(backup).toMatchObject({ status: 'completed', error: null });
  restored = join(site.directory, 'restored');
  const restore = await site.agent.submit(
    {
      type: 'restore',
      destination: 'default',
      snapshot_id: String(backup.snapshot_id),
      paths: [],
      target: restored,
      options: {
        overwrite: 'always',
        dry_run: false,
        verify: true,
        delete_extra: false,
        restore_ownership: false,
      },
    },
    'api',
  );
  expect(await site.ended(restore.id)).toMatchObject({ status: 'completed', error: null });
  restored = join(restored, site.source);
  ({ address } = await site.ask('turn_on_webdav', {}));
  snapshot = `${site.source.slice(1).replaceAll('/', '+')}/latest`;
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

interface Ran {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

interface Program {
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** @throws {ServerUnavailable} */
async function debianProgram(name: string): Promise<Program> {
  const { directory, environment } = await debianPrograms(name, [name]);
  return { file: join(directory, 'usr/bin', name), environment };
}

/** @param input what is typed */
async function run(
  { file, environment }: Program,
  words: readonly (string | Buffer)[],
  input = '',
  more: NodeJS.ProcessEnv = {},
): Promise<Ran> {
  const child = spawn(file, words as string[], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: site.directory,
    env: { ...environment, HOME: site.directory, LANG: 'C.UTF-8', ...more },
  });
  const out: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  child.stdin.end(input, 'latin1');
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(out), stderr };
}

/** Folders, and files with a hash of their bytes and the second in which they were changed, by their paths. */
function foldersAndFiles(root: string, withTimes: boolean): ReadonlyMap<ByteString, string> {
  const found = new Map<ByteString, string>();
  const enter = (directory: ByteString, shown: ByteString): void => {
    for (const name of readdirSync(fsPath(directory), 'latin1')) {
      const [path, below] = [directory, shown].map((one) => joinBytes(one, asByteString(name)));
      if (path === undefined || below === undefined) continue;
      const facts = lstatSync(fsPath(path), { bigint: true });
      if (facts.isDirectory()) {
        found.set(below, 'folder');
        enter(path, below);
      } else if (facts.isFile()) {
        const hash = createHash('sha256')
          .update(readFileSync(fsPath(path)))
          .digest('hex');
        const second = (facts.mtimeNs - (((facts.mtimeNs % SECOND) + SECOND) % SECOND)) / SECOND;
        found.set(below, withTimes ? `${hash} ${second}` : hash);
      }
    }
  };
  enter(treePath(root), asByteString(''));
  return found;
}

const rcloneFound = await startOrSkip(async () => await debianProgram('rclone'));
if ('missing' in rcloneFound) test.skip(`rclone was not tested: ${rcloneFound.missing}`, () => {});
else {
  const rclone = async (words: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ran> =>
    await run(rcloneFound.server, words, '', {
      RCLONE_CONFIG: join(site.directory, 'no-such.conf'),
      RCLONE_WEBDAV_URL: address,
      RCLONE_WEBDAV_VENDOR: 'other',
      // Two names that are the same to other systems are two.
      RCLONE_NO_UNICODE_NORMALIZATION: 'true',
      ...more,
    });

  test('rclone lists sources, times and what is in them', async () => {
    const listed = await rclone(['lsf', ':webdav:']);
    expect([listed.code, listed.stdout.toString()], listed.stderr).toEqual([
      0,
      `${snapshot.replace('/latest', '/')}\n`,
    ]);
    const times = await rclone(['lsf', `:webdav:${snapshot.replace('/latest', '')}`]);
    expect(times.stdout.toString()).toMatch(/^\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\/\nlatest\/\n$/);
    const crowd = await rclone(['lsf', `:webdav:${snapshot}/crowd`]);
    expect(crowd.stdout.toString().trim().split('\n')).toHaveLength(CROWD);
  });

  test('rclone reads parts of a file', async () => {
    const file = 'contents/random-9-mib';
    const whole = readFileSync(join(site.source, file));
    for (const [offset, count] of [
      [0, 1],
      [1, 4096],
      [2_097_151, 2],
      [5_000_000, 3_000_000],
      [whole.length - 3, 3],
    ] as const) {
      const words = [
        'cat',
        '--offset',
        String(offset),
        '--count',
        String(count),
        `:webdav:${snapshot}/${file}`,
      ];
      const { code, stdout, stderr } = await rclone(words);
      expect(code, stderr).toBe(0);
      expect(stdout.equals(whole.subarray(offset, offset + count)), `${count} bytes from ${offset}`).toBe(
        true,
      );
    }
    const end = await rclone(['cat', '--tail', '10', `:webdav:${snapshot}/${file}`]);
    expect(end.stdout.equals(whole.subarray(-10))).toBe(true);
  });

  test('rclone copies a whole snapshot, which is what a restore brings', async () => {
    const target = join(site.directory, 'by-rclone');
    const copied = await rclone(['copy', '--create-empty-src-dirs', `:webdav:${snapshot}`, target]);
    expect(copied.code, copied.stderr).toBe(0);
    const wanted = foldersAndFiles(restored, true);
    expect(wanted.size).toBeGreaterThan(CROWD + 300);
    expect(foldersAndFiles(target, true)).toEqual(wanted);
  });

  test('rclone gets in with user and password as well, and with neither it does not', async () => {
    const { address: plain } = await site.ask('webdav', {});
    const { password } = await site.ask('turn_on_webdav', {}).then((made) => {
      ({ address } = made);
      return made;
    });
    const obscured = (await rclone(['obscure', password])).stdout.toString().trim();
    const basic = { RCLONE_WEBDAV_URL: plain, RCLONE_WEBDAV_USER: 'holdfast' };
    const listed = await rclone(['lsf', ':webdav:'], { ...basic, RCLONE_WEBDAV_PASS: obscured });
    expect([listed.code, listed.stdout.toString()], listed.stderr).toEqual([
      0,
      `${snapshot.replace('/latest', '/')}\n`,
    ]);
    const wrong = (await rclone(['obscure', `${password}x`])).stdout.toString().trim();
    const refused = await rclone(['lsf', ':webdav:'], { ...basic, RCLONE_WEBDAV_PASS: wrong });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('401');
  });

  test('rclone changes nothing', async () => {
    const before = await rclone(['lsl', `:webdav:${snapshot}/contents`]);
    for (const words of [
      ['delete', `:webdav:${snapshot}/contents`],
      ['purge', `:webdav:${snapshot}/contents`],
      ['copyto', join(site.source, 'contents/empty'), `:webdav:${snapshot}/new`],
      ['mkdir', `:webdav:${snapshot}/made`],
      ['moveto', `:webdav:${snapshot}/contents/empty`, `:webdav:${snapshot}/contents/moved`],
    ]) {
      const ran = await rclone(['--retries', '1', '--low-level-retries', '1', ...words]);
      expect(ran.code, words[0]).not.toBe(0);
      expect(ran.stderr, words[0]).toContain('Snapshots never change');
    }
    const after = await rclone(['lsl', `:webdav:${snapshot}/contents`]);
    expect(after.stdout.toString()).toBe(before.stdout.toString());
  });
}

const cadaverFound = await startOrSkip(async () => await debianProgram('cadaver'));
if ('missing' in cadaverFound) test.skip(`cadaver was not tested: ${cadaverFound.missing}`, () => {});
else {
  const cadaver = async (commands: readonly string[], at = ''): Promise<string> => {
    const words = ['--rcfile=/dev/null', `${address}${at}`];
    const ran = await run(cadaverFound.server, words, `${commands.join('\n')}\nquit\n`);
    return `${ran.stdout.toString('latin1')}${ran.stderr}`;
  };

  /** As it is typed: every character that could mean something is taken as it is. */
  const typed = (path: string): string => path.replaceAll(/[^A-Za-z0-9/._\u0080-\u00ff-]/g, '\\$&');

  test('cadaver lists, shows properties and is refused what would change something', async () => {
    const said = await cadaver([
      'ls',
      `cd ${typed(snapshot)}`,
      'ls crowd',
      'propget contents/random-4096',
      'mkcol made',
      'delete contents/empty',
      'move contents/empty contents/moved',
      'put /etc/hostname put',
    ]);
    expect(said).toContain(`Coll:   ${snapshot.replace('/latest', '')} `);
    expect(said.match(/^ +entry \d+ +\d+ /gm)).toHaveLength(CROWD);
    expect(said).toContain('DAV: getcontentlength = 4096');
    expect(said.match(/failed:\s+403 Forbidden/g)).toHaveLength(4);
  });

  test('cadaver goes on with a file of which it has a part', async () => {
    const part = join(site.directory, 'part');
    const whole = readFileSync(join(site.source, 'contents/random-9-mib'));
    writeFileSync(part, whole.subarray(0, 3_000_001));
    const said = await cadaver([`cd ${typed(snapshot)}/contents`, 'get random-9-mib part', 'r']);
    expect(readFileSync(part).equals(whole), said).toBe(true);
  });

  test('cadaver copies a whole snapshot, which is what a restore brings', async () => {
    const target = join(site.directory, 'by-cadaver');
    mkdirSync(target);
    const wanted = foldersAndFiles(restored, false);
    // Its commands are typed, which some names cannot be: those that are no text, and what moves the cursor.
    const paths = [...wanted.keys()].filter((path) => !/[\p{C}\uFFFD]/u.test(textOfBytes(path)));
    expect(paths.length).toBeGreaterThan(wanted.size - 60);
    const commands = paths.flatMap((path) => {
      if (wanted.get(path) !== 'folder') return `get ${typed(path)} ${typed(`by-cadaver/${path}`)}`;
      mkdirSync(fsPath(joinBytes(treePath(target), path)), { recursive: true });
      return [];
    });
    const said = await cadaver([`cd ${typed(snapshot)}`, ...commands]);
    const copied = foldersAndFiles(target, false);
    const missing = paths.filter((path) => copied.get(path) !== wanted.get(path));
    expect(missing, said.slice(-2_000)).toEqual([]);
  });
}
