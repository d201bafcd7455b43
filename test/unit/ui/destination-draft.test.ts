import { describe, expect, test } from 'vitest';
import { parseLocation } from '../../../src/destination/location.ts';
import {
  DESTINATION_KINDS,
  type DestinationDraft,
  draftOf,
  emptyDraft,
  folderIn,
  freeName,
  isOptional,
  DESTINATION_FIELDS,
  problemsOf,
  secretsOf,
  settingOf,
  splitPath,
  urlOf,
  withField,
} from '../../../src/ui/parts/destination-draft.ts';

const S3: DestinationDraft = {
  kind: 's3',
  fields: {
    bucket: 'my-bucket',
    prefix: 'laptop of Änne/1 2',
    endpoint: 'https://s3.example.org',
    region: 'eu-central-1',
    accessKeyId: 'AKIAEXAMPLE',
    secretAccessKey: 's3cret',
  },
};
const SFTP: DestinationDraft = {
  kind: 'sftp',
  fields: {
    host: 'nas',
    port: '2222',
    user: 'keeper',
    directory: '/srv/back up',
    keyFile: '~/.ssh/id',
    password: '',
  },
};

describe('the URL of a destination that was typed in', () => {
  test('is understood by the agent as it was meant', () => {
    expect(parseLocation(urlOf(S3))).toEqual({
      kind: 's3',
      bucket: 'my-bucket',
      prefix: 'laptop of Änne/1 2',
      endpoint: 'https://s3.example.org',
      region: 'eu-central-1',
      pathStyle: true,
    });
    expect(parseLocation(urlOf(SFTP))).toMatchObject({
      host: 'nas',
      port: 2222,
      user: 'keeper',
      directory: '/srv/back up',
    });
    const dav: DestinationDraft = {
      kind: 'webdav',
      fields: { address: 'https://cloud.example.org/remote.php/dav/files/me/', user: 'me', password: 'x' },
    };
    expect(parseLocation(urlOf(dav))).toEqual({
      kind: 'webdav',
      url: 'https://cloud.example.org/remote.php/dav/files/me',
      user: 'me',
    });
    const azure: DestinationDraft = {
      kind: 'azblob',
      fields: { account: 'mystorage', container: 'backups', prefix: 'laptop' },
    };
    expect(parseLocation(urlOf(azure))).toMatchObject({
      account: 'mystorage',
      container: 'backups',
      prefix: 'laptop',
    });
    const rclone: DestinationDraft = { kind: 'rclone', fields: { remote: 'drive', path: 'backup/laptop' } };
    expect(parseLocation(urlOf(rclone))).toEqual({ kind: 'rclone', remote: 'drive', path: 'backup/laptop' });
  });

  test.each([
    ['backup', 'backup'],
    ['~/backup', 'backup'],
    ['/srv/backup', '/srv/backup'],
  ])('on a server the folder %s is %s', (directory, understood) => {
    const url = urlOf({ kind: 'sftp', fields: { host: 'nas', directory } });
    expect(parseLocation(url)).toMatchObject({ directory: understood, port: 22 });
  });

  test('of an IPv6 address has it in brackets', () => {
    const url = urlOf({ kind: 'sftp', fields: { host: 'fd00::1', directory: '/a' } });
    expect(url).toBe('sftp://[fd00::1]/a');
    expect(parseLocation(url)).toMatchObject({ host: 'fd00::1' });
  });

  test('never has a secret in it', () => {
    for (const kind of DESTINATION_KINDS) {
      const fields = Object.fromEntries(DESTINATION_FIELDS[kind].map((field) => [field, 'typed']));
      const secrets = secretsOf({ kind, fields });
      const marked = {
        kind,
        fields: { ...fields, ...Object.fromEntries([...secrets].map(([f]) => [f, 'hush'])) },
      };
      expect(JSON.stringify(settingOf(marked, {}))).not.toContain('hush');
    }
  });
});

describe('what cannot be as it was typed', () => {
  test('is named for each field that is needed and empty', () => {
    for (const kind of DESTINATION_KINDS) {
      const needed = DESTINATION_FIELDS[kind].filter((field) => !isOptional(kind, field));
      expect(needed.length).toBeGreaterThan(0);
      expect(problemsOf(emptyDraft(kind))).toEqual(
        Object.fromEntries(needed.map((field) => [field, 'missing'])),
      );
    }
  });

  test.each([
    ['directory', { path: 'backup' }, { path: 'not_absolute' }],
    ['directory', { path: '~/backup' }, {}],
    ['webdav', { address: 'http://cloud.example.org/dav' }, { address: 'not_https' }],
    ['webdav', { address: 'http://localhost:8080/dav' }, {}],
    ['webdav', { address: 'https://me:secret@cloud.example.org/' }, { address: 'not_https' }],
    ['sftp', { host: 'nas', directory: 'a', port: '70000' }, { port: 'not_a_port' }],
    ['sftp', { host: 'me@nas', directory: 'a' }, { host: 'no_such_characters' }],
    ['sftp', { host: 'nas', directory: 'a', keyFile: 'id' }, { keyFile: 'not_absolute' }],
    ['s3', { bucket: 'a/b' }, { bucket: 'no_such_characters' }],
    ['s3', { bucket: 'a', endpoint: 's3.example.org' }, { endpoint: 'not_https' }],
    ['rclone', { remote: 'drive:' }, { remote: 'no_such_characters' }],
  ] as const)('%s %o: %o', (kind, fields, problems) => {
    expect(problemsOf({ kind, fields })).toEqual(problems);
  });
});

describe('the setting of a destination', () => {
  test('refers to its secrets', () => {
    const reference = { file: '/state/secrets/1' };
    expect(settingOf(S3, { secretAccessKey: reference })).toEqual({
      url: urlOf(S3),
      access: { s3: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: reference } },
    });
  });

  test('has nothing to reach it with when nothing was typed', () => {
    expect(settingOf({ kind: 's3', fields: { bucket: 'b' } }, {})).toEqual({ url: 's3://b' });
    expect(settingOf({ kind: 'directory', fields: { path: ' /mnt/usb ' } }, {})).toEqual({ url: '/mnt/usb' });
  });

  test('keeps what the form does not ask for, and the secret that was not typed anew', () => {
    const before = {
      url: 's3://b/old',
      passphrase: { env: 'PASS' },
      access: {
        s3: { accessKeyId: 'OLD', secretAccessKey: { file: '/kept' }, storageClass: 'STANDARD_IA' },
        sftp: null,
      },
    };
    const draft = draftOf(before);
    expect(draft).toEqual({
      kind: 's3',
      fields: { bucket: 'b', prefix: 'old', endpoint: '', region: '', accessKeyId: 'OLD' },
    });
    if (draft === undefined) throw new Error('no draft');
    expect(settingOf({ ...draft, fields: { ...draft.fields, prefix: 'new' } }, {}, before)).toEqual({
      url: 's3://b/new',
      passphrase: { env: 'PASS' },
      access: { s3: { accessKeyId: 'OLD', secretAccessKey: { file: '/kept' }, storageClass: 'STANDARD_IA' } },
    });
    const emptied = { ...draft, fields: { ...draft.fields, accessKeyId: '' } };
    expect(settingOf(emptied, {}, before).access).toMatchObject({ s3: { accessKeyId: null } });
  });

  test('with the passphrase of backups that are there already names where it is kept, until it is another place', () => {
    const draft = { kind: 'directory', fields: { path: '/disk' }, passphrase: 'four words' } as const;
    expect([...secretsOf(draft)]).toEqual([['passphrase', 'four words']]);
    expect(settingOf(draft, { passphrase: { file: '/kept' } })).toEqual({
      url: '/disk',
      passphrase: { file: '/kept' },
    });
    expect(withField(draft, 'path', '/other')).toEqual({ kind: 'directory', fields: { path: '/other' } });
    expect([...secretsOf({ ...draft, passphrase: '' })]).toEqual([]);
  });

  test('of another kind than before takes over no secret', () => {
    const before = { url: 'sftp://nas/a', access: { sftp: { password: { file: '/kept' } } } };
    expect(settingOf({ kind: 'webdav', fields: { address: 'https://a.example/b' } }, {}, before)).toEqual({
      url: 'webdavs://a.example/b',
    });
  });
});

describe('a destination of the settings', () => {
  test.each([
    '/mnt/usb',
    's3://bucket/a/b?endpoint=https%3A%2F%2Fs3.example.org&region=eu-1',
    'sftp://keeper@nas/srv/backup',
    'sftp://nas:2222/~/backup',
    'sftp://[fd00::1]:23/a',
    'webdavs://me@cloud.example.org/dav/files',
    'azblob://backups/laptop?account=mystorage',
    'gs://bucket/laptop',
    'rclone:drive:backup',
  ])('%s is typed in as it stands there', (url) => {
    const draft = draftOf({ url });
    if (draft === undefined) throw new Error('no draft');
    expect(urlOf(draft)).toBe(url);
  });

  test.each(['s3://bucket?path_style=false', 'azblob://c?account=a&endpoint=https://x.example', 'ftp://x/y'])(
    '%s is left to the file',
    (url) => expect(draftOf({ url })).toBeUndefined(),
  );
});

test('a folder for backups is one of its own', () => {
  expect(folderIn('/media/usb')).toBe('/media/usb/holdfast');
  expect(folderIn('/media/usb/Holdfast/')).toBe('/media/usb/Holdfast');
  expect(folderIn('/')).toBe('/holdfast');
});

test('a path has a directory above it, up to the root', () => {
  expect(splitPath('/media/usb/holdfast/')).toEqual({ parent: '/media/usb', name: 'holdfast' });
  expect(splitPath('/media')).toEqual({ parent: '/', name: 'media' });
  expect(splitPath('/')).toBeUndefined();
  expect(splitPath('~/backup')).toBeUndefined();
});

test('a name for a destination is one that none has', () => {
  expect(freeName('disk', [])).toBe('disk');
  expect(freeName('disk', ['disk', 'disk-2'])).toBe('disk-3');
});
