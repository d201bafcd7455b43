import { expect, test } from 'vitest';
import { judgeRun, NO_HISTORY, withRun, type RunFacts } from '../../../src/watch/alarms.ts';
import { encryptedIn, lostIn, type FolderFindings } from '../../../src/watch/folder-damage.ts';

const folder = (path: string, files: number, filesBefore: number) => ({ path, files, filesBefore });
const NONE: FolderFindings = { encrypted: 0, folders: [], lost: [], isNew: true };

test('a hundred files that look encrypted are damage wherever they are', () => {
  const spread = [folder('', 100, 90_000), folder('a', 50, 400), folder('b', 50, 400)];
  expect(encryptedIn({ ...NONE, encrypted: 100, folders: spread }, 90_000)).toEqual(folder('', 100, 90_000));
  expect(encryptedIn({ ...NONE, encrypted: 99, folders: [folder('', 99, 90_000)] }, 90_000)).toBeNull();
});

test('fewer are if they are half of a folder, which is named as exactly as it can be', () => {
  const folders = [folder('', 20, 9_000), folder('work', 20, 5_000), folder('work/letters', 20, 40)];
  expect(encryptedIn({ ...NONE, encrypted: 20, folders }, 9_000)).toEqual(folder('work/letters', 20, 40));
  expect(encryptedIn({ ...NONE, encrypted: 20, folders: [folder('a', 20, 41)] }, 9_000)).toBeNull();
  expect(encryptedIn({ ...NONE, encrypted: 19, folders: [folder('a', 19, 19)] }, 9_000)).toBeNull();
  // The source itself is such a folder.
  expect(encryptedIn({ ...NONE, encrypted: 30 }, 60)).toEqual(folder('', 30, 60));
});

test('a folder is named in place of the source if it has nearly all of them', () => {
  const folders = [folder('a', 280, 300), folder('a/b', 270, 270), folder('c', 20, 900)];
  expect(encryptedIn({ ...NONE, encrypted: 300, folders }, 1_856)).toEqual(folder('a/b', 270, 270));
});

test('a folder is lost with more than half of at least a hundred files', () => {
  expect(lostIn({ ...NONE, lost: [folder('a', 100, 199)] })).toEqual(folder('a', 100, 199));
  expect(lostIn({ ...NONE, lost: [folder('a', 100, 200)] })).toBeNull();
  expect(lostIn({ ...NONE, lost: [folder('a', 99, 99)] })).toBeNull();
});

test('small sources are judged as well, and each kind is told of once', () => {
  const run: RunFacts = {
    source: '/home/me',
    at: 1_700_000_000_000,
    filesBefore: 60,
    files: 60,
    filesNew: 0,
    filesChanged: 40,
    bytesNew: 4_000,
    bytesStored: 4_000,
    damage: { ...NONE, encrypted: 40 },
  };
  const open = judgeRun(run, NO_HISTORY, []);
  expect(open).toMatchObject([{ kind: 'rewritten', facts: { files_before: 60, rewritten: 40 } }]);
  expect(open[0]?.facts).not.toHaveProperty('folder');
  expect(judgeRun(run, NO_HISTORY, open)).toEqual([]);
});

test('the last snapshot from before is that of the last backup only if all of it happened since', () => {
  const place = (snapshot: string) => ({ snapshot, destination: 'default' });
  const run: RunFacts = {
    source: '/home/me',
    at: 1_700_000_000_000,
    filesBefore: 900,
    files: 900,
    filesNew: 0,
    filesChanged: 3,
    bytesNew: 4_000,
    bytesStored: 4_000,
    before: place('first'),
  };
  const history = withRun(NO_HISTORY, run);
  const next = { ...run, at: run.at + 60_000, filesChanged: 200, before: place('second') };
  const damage = { ...NONE, encrypted: 150 };
  expect(judgeRun({ ...next, damage }, history, [])[0]?.before).toEqual(place('second'));
  const spread = { ...damage, isNew: false };
  expect(judgeRun({ ...next, damage: spread }, history, [])[0]?.before).toEqual(place('first'));
});
