import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { DescriptorDirectory } from '../../../src/restorer/target/descriptor-directory.ts';
import { EntryRecordWriter, NO_RECORD, RECORD } from '../../../src/restorer/target/entry-records.ts';
import { makeHardLink } from '../../../src/restorer/finish/make-hard-link.ts';
import { MetadataWriter } from '../../../src/restorer/metadata/metadata.ts';
import { OpenDirectories } from '../../../src/restorer/target/open-directories.ts';
import { SILENT_RESTORE } from '../../../src/restorer/request/request.ts';
import { RestoreTally } from '../../../src/restorer/request/tally.ts';
import { native, type Native } from '../../../src/system/native.ts';
import { ORDINARY_POLICY } from '../../support/metadata-policy.ts';
import { removeTree } from '../../support/remove-tree.ts';

let site: string;
beforeEach(() => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-hard-link-'));
  mkdirSync(join(site, 'target'));
});
afterEach(() => {
  removeTree(site);
});

const calls = native;

/** The real calls, but that links are refused with this errno name. */
function refusing(code: string | undefined, real: Native): Native {
  if (code === undefined) return real;
  return {
    ...real,
    linkat: () => {
      throw Object.assign(new Error(`${code}: refused`), { code });
    },
  };
}

describe.runIf(calls !== null)('another name of a file', () => {
  function setUp(code: string | undefined) {
    if (calls === null) throw new Error('there are no native calls');
    const target = join(site, 'target');
    writeFileSync(join(target, 'first'), 'the content');
    const plain = { mode: 0o640, uid: 0, gid: 0, mtimeNs: 1_500_000_000_000_000_001n, ctimeNs: 0n, inode: 0 };
    const writer = new EntryRecordWriter();
    const root = writer.add(NO_RECORD, { ...plain, name: asByteString('') }, 0, 0, 0).handle;
    const leader = writer.add(root, { ...plain, name: asByteString('first') }, RECORD.leader, 11, 0);
    const { ino, dev } = statSync(join(target, 'first'), { bigint: true });
    leader.created = { ino, dev };
    const tally = new RestoreTally(SILENT_RESTORE, systemClock, bytesOfText('/'));
    const directories = new OpenDirectories(
      writer.records,
      root,
      DescriptorDirectory.open(refusing(code, calls), treePath(target)),
    );
    const metadata = new MetadataWriter(ORDINARY_POLICY, tally.omissions);
    const link = {
      parent: root,
      name: asByteString('second'),
      size: 11,
      standing: 'create' as const,
      group: { leader: leader.handle, links: [], first: undefined, leftAlone: false },
    };
    return {
      target,
      tally,
      leader,
      link,
      parts: { records: writer.records, directories, metadata, tally, run: '1-x' },
    };
  }

  test('is the same inode', () => {
    const { target, tally, link, parts } = setUp(undefined);
    makeHardLink(parts, link);
    expect(statSync(join(target, 'second')).ino).toBe(statSync(join(target, 'first')).ino);
    expect(tally.omissions.list()).toEqual([]);
    parts.directories.close();
  });

  test.each(['EMLINK', 'EPERM', 'ENOTSUP'])(
    'is a copy where links are refused with %s, and that is told',
    (code) => {
      const { target, tally, link, parts } = setUp(code);
      makeHardLink(parts, link);
      const second = statSync(join(target, 'second'), { bigint: true });
      expect(second.ino).not.toBe(statSync(join(target, 'first'), { bigint: true }).ino);
      expect(readFileSync(join(target, 'second'), 'utf8')).toBe('the content');
      expect(second.mode & 0o7777n).toBe(0o640n);
      expect(second.mtimeNs).toBe(1_500_000_000_000_000_001n);
      expect(tally.omissions.list()).toMatchObject([{ kind: 'hard-links', count: 1 }]);
      expect(tally.filesRestored).toBe(1);
      parts.directories.close();
    },
  );

  test('is not made of something that took the place of the first one', () => {
    const { target, link, parts } = setUp(undefined);
    writeFileSync(join(target, 'other'), 'other');
    parts.directories.at(link.parent).rename(asByteString('other'), asByteString('first'));
    expect(() => makeHardLink(parts, link)).toThrow(expect.objectContaining({ code: 'LINK_FAILED' }));
    expect(parts.directories.at(link.parent).names()).toEqual(['first']);
    parts.directories.close();
  });

  test('fails with a first one that was not made', () => {
    const { leader, link, parts } = setUp(undefined);
    leader.created = { ino: 0n, dev: 0n };
    expect(() => makeHardLink(parts, link)).toThrow(expect.objectContaining({ code: 'LINK_FAILED' }));
    parts.directories.close();
  });

  test('passes other errors on', () => {
    const { link, parts } = setUp('EACCES');
    expect(() => makeHardLink(parts, link)).toThrow(expect.objectContaining({ code: 'EACCES' }));
    parts.directories.close();
  });
});
