import { describe, expect, it } from 'vitest';
import { textRef } from '../../../src/ui/pages/restore/path-ref.ts';
import { commandOfDraft, draftOf, requestOf } from '../../../src/ui/pages/restore/restore-draft.ts';

const snapshot = '0123456789abcdef0123';
const bytes = { path: '/\u{FFFD}', path_b64: Buffer.from('/\xff', 'latin1').toString('base64') };
const draft = draftOf(snapshot, [textRef('/home/a b'), bytes], textRef('/home'));

describe('a restore that is put together', () => {
  it('touches nothing that is there unless somebody says so', () => {
    expect(requestOf(draft, true)).toEqual({
      snapshot_id: snapshot,
      paths: ['/home/a b', { path_b64: bytes.path_b64 }],
      in_place: true,
      options: {
        overwrite: 'never',
        dry_run: true,
        verify: true,
        delete_extra: false,
        restore_ownership: false,
      },
    });
    expect(commandOfDraft(draft, undefined)).toBe(
      String.raw`holdfast restore 0123456789ab '/home/a b' $'/\xff' --in-place`,
    );
  });

  it('of one version takes the place of what is there, as offered', () => {
    const version = draftOf(snapshot, [textRef('/home/a')], textRef('/home'), 'if_changed');
    expect(requestOf(version, false).options).toMatchObject({ overwrite: 'if_changed' });
  });

  it('says all that was chosen', () => {
    const other = {
      ...draft,
      what: 'directory',
      isInPlace: false,
      target: ' /mnt/back ',
      overwrite: 'if_changed',
      isVerified: false,
      withOwnership: true,
      deletesExtra: true,
    } as const;
    expect(requestOf(other, false)).toMatchObject({
      paths: ['/home'],
      target: '/mnt/back',
      options: { overwrite: 'if_changed', dry_run: false, verify: false, delete_extra: true },
    });
    expect(commandOfDraft(other, 'nas')).toBe(
      'holdfast restore -r nas 0123456789ab /home --target /mnt/back --overwrite if-changed --delete-extra' +
        ' --restore-ownership --no-verify',
    );
  });

  it('names no paths for everything', () => {
    expect(requestOf({ ...draft, what: 'all' }, false)).not.toHaveProperty('paths');
    const root = draftOf(snapshot, [], textRef('/'));
    expect(requestOf(root, false)).not.toHaveProperty('paths');
  });
});
