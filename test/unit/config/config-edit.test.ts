import { chmod, readFile, readdir, rm, stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  addSource,
  editConfig,
  removeDestination,
  removeSource,
  removeValue,
  setDestination,
  setValue,
  type ConfigChange,
} from '../../../src/config/config-edit.ts';
import { saveLastGood } from '../../../src/config/config-source.ts';
import { NO_FILE } from '../../../src/config/load.ts';
import { openConfigPlace, type ConfigPlace } from '../../support/config-place.ts';

async function edit(place: ConfigPlace, changes: readonly ConfigChange[], revision?: string) {
  return await editConfig(place, changes, revision, new AbortController().signal);
}

describe('an edit of the configuration file', () => {
  test('makes the file when there is none, private and whole', async () => {
    await using place = await openConfigPlace();
    const { settings } = await edit(place, [addSource({ path: '~/Documents' })], NO_FILE);
    expect(settings.sources[0]?.path).toBe('/home/anna/Documents');
    expect(await readFile(place.file, 'utf8')).toBe(
      '{\n  "version": 1,\n  "sources": [\n    {\n      "path": "~/Documents"\n    }\n  ]\n}\n',
    );
    expect((await stat(place.file)).mode & 0o777).toBe(0o600);
    expect(await readdir(place.context.stateDirectory)).toEqual(['config.json']);
  });

  test('does not make the file anew when it was there before: what it held would be lost', async () => {
    await using place = await openConfigPlace();
    const { text } = await edit(place, [addSource({ path: '~/Documents' })], NO_FILE);
    const elsewhere = { ...place, file: `${place.directory}/other.json` };
    await chmod(place.directory, 0o700);
    await saveLastGood(place.context.stateDirectory, place.file, { text });
    await rm(place.file);
    for (const revision of [undefined, NO_FILE])
      await expect(edit(place, [addSource({ path: '~/Photos' })], revision)).rejects.toMatchObject({
        code: 'CONFIG_MISSING',
        hint: expect.stringContaining(`${place.context.stateDirectory}/config.last-good.json`),
      });
    expect(await readdir(place.context.stateDirectory)).toEqual(['config.last-good.json']);
    // Of another file nothing is known.
    await edit(elsewhere, [addSource({ path: '~/Photos' })], NO_FILE);
    await place.write('{}');
    await edit(place, [addSource({ path: '~/Photos' })]);
  });

  test('keeps comments and the byte order mark', async () => {
    await using place = await openConfigPlace();
    await place.write('\uFEFF{\n  // mine\n  "plan": "pro", // paid\n}\n');
    await edit(place, [setValue(['plan'], 'business'), setDestination('nas', { url: '/mnt/nas' })]);
    expect(await readFile(place.file, 'utf8')).toBe(
      '\uFEFF{\n  // mine\n  "plan": "business", // paid\n  "destinations": {\n    "nas": {\n      "url": "/mnt/nas"\n    }\n  },\n}\n',
    );
    await edit(place, [removeDestination('nas'), removeValue(['plan'])]);
    expect(await readFile(place.file, 'utf8')).toBe(
      '\uFEFF{\n  // mine\n  // paid\n  "destinations": {\n  },\n}\n',
    );
  });

  test('is made only on the revision it was meant for', async () => {
    await using place = await openConfigPlace();
    const first = await edit(place, [setValue(['plan'], 'pro')], NO_FILE);
    const second = await edit(place, [setValue(['log', 'level'], 'warn')], first.revision);
    expect(second.revision).not.toBe(first.revision);
    for (const revision of [first.revision, NO_FILE]) {
      await expect(edit(place, [setValue(['plan'], 'business')], revision)).rejects.toMatchObject({
        code: 'REVISION_MISMATCH',
        details: { revision: second.revision },
      });
    }
    expect(second.settings.plan).toBe('pro');
  });

  test('that would make the file invalid is refused, and the file is as before', async () => {
    await using place = await openConfigPlace();
    await place.write('{"sources": [{"path": "/a"}]}');
    const refused: readonly (readonly [ConfigChange, string, string])[] = [
      [setValue(['retention', 'keepDaily'], 0), 'INVALID_REQUEST', 'retention.keepDaily: 0 is out of bounds'],
      [setValue(['colour'], 1), 'UNKNOWN_FIELD', '"colour" is not a setting'],
      [removeValue(['sources', 0, 'path']), 'MISSING_FIELD', 'sources[0]: "path" is missing'],
      [addSource({ path: '/a' }), 'INVALID_REQUEST', 'sources[1].path: This source is configured twice'],
      [setDestination('n', { url: 's3://b?token=x' }), 'SECRET_IN_URL', 'destinations.n.url'],
      [setValue(['destinations', '__proto__'], { url: '/x' }), 'INVALID_REQUEST', 'cannot be the name'],
      [setValue(['sources'], nest(5_000)), 'INVALID_REQUEST', 'nested too deep'],
      [setValue([], []), 'INVALID_REQUEST', 'does not hold an object'],
      [setValue(['sources', 7, 'path'], '/x'), 'INVALID_REQUEST', 'sources[7] does not exist'],
    ];
    for (const [change, code, message] of refused) {
      await expect(edit(place, [change])).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
      expect(await readFile(place.file, 'utf8')).toBe('{"sources": [{"path": "/a"}]}');
    }
    expect((await edit(place, [removeSource(0)])).settings.sources).toEqual([]);
  });

  test('of a broken or unsafe file is refused until that is put right', async () => {
    await using place = await openConfigPlace();
    await place.write('{"plan": ');
    await expect(edit(place, [setValue(['plan'], 'pro')])).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' });
    expect(await readFile(place.file, 'utf8')).toBe('{"plan": ');
    await place.write('{}');
    await chmod(place.file, 0o666);
    await expect(edit(place, [setValue(['plan'], 'pro')])).rejects.toMatchObject({ code: 'CONFIG_UNSAFE' });
  });

  test('never loses another that is made at the same time', async () => {
    await using place = await openConfigPlace();
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => await edit(place, [addSource({ path: `/${index}` })])),
    );
    const { settings } = await edit(place, []);
    expect(settings.sources.map(({ path }) => path).sort()).toEqual(
      Array.from({ length: 12 }, (_, index) => `/${index}`).sort(),
    );
  });
});

function nest(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
