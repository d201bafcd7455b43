import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonSchemaText } from '../../src/config/schema.ts';
import { jsonLines, obeyingModes, openPlace, type Place } from '../support/cli.ts';

const fileOf = ({ state }: Place): string => join(state, 'config.json');

async function config(place: Place, words: readonly string[], code = 0): Promise<string> {
  const { stdout, stderr } = await place.expectRun(['config', ...words], code);
  return stdout + stderr;
}

describe.concurrent('holdfast config', () => {
  test('shows defaults without any file, and says where the file would be', async () => {
    await using place = await openPlace();
    expect(await config(place, ['path'])).toBe(`${fileOf(place)}\n`);
    expect(await config(place, ['get', 'retention.keepDaily'])).toBe('7\n');
    expect(await config(place, ['get', 'plan'])).toBe('free_trial\n');
    expect(JSON.parse(await config(place, ['get']))).toMatchObject({ version: 1, listen: { port: 7_390 } });
    expect(await config(place, ['validate'])).toBe(`${fileOf(place)} does not exist: all defaults apply.\n`);
    const [shown] = jsonLines({ stdout: await config(place, ['get', 'listen', '--json']) });
    expect(shown).toEqual({
      type: 'setting',
      key: 'listen',
      value: { port: 7_390 },
      file: fileOf(place),
      revision: 'none',
    });
  });

  test('refuses rules of what is left out that no backup could go by, and says where they are', async () => {
    await using place = await openPlace();
    await config(place, ['set', 'sources[-].path', '/srv/data']);
    const rules: readonly (readonly [string, string, string])[] = [
      ['patterns', './cache', 'can never match'],
      ['patterns', '[a', 'unclosed bracket'],
      ['ifPresent', ':text', 'is not the name of a file'],
      ['ignoreFiles', ':a/b', 'is not the name of a file'],
    ];
    for (const [name, text, said] of rules) {
      const key = `sources[0].exclude.${name}[-]`;
      expect(await config(place, ['set', key, text], 2)).toContain(said);
    }
    await writeFile(
      fileOf(place),
      '{ "sources": [{ "path": "/srv/data", "exclude": {\n  "patterns": ["/srv/data/tmp", "!a", "./cache"] } }] }',
    );
    expect(await config(place, ['validate'], 1)).toContain(
      `${fileOf(place)}:2:39: sources[0].exclude.patterns[2]: The pattern './cache'`,
    );
  });

  test('does not take a file that is gone for one that never was', async () => {
    await using place = await openPlace();
    await config(place, ['set', 'sources[-].path', '/srv/data']);
    const first = `// The last valid content of ${JSON.stringify(fileOf(place))}, kept by Holdfast. Changes here have no effect.\n`;
    const copy = join(place.state, 'config.last-good.json');
    await writeFile(copy, first + (await readFile(fileOf(place), 'utf8')), { mode: 0o600 });
    await rm(fileOf(place));
    for (const words of [
      ['config', 'set', 'plan', 'pro'],
      ['config', 'get'],
      ['sources', 'add', place.state],
      ['sources', 'list'],
      ['start', '--source', place.directory],
      // Where its default destination is, nobody knows.
      ['snapshots'],
    ]) {
      const { stderr } = await place.expectRun(words, 1, { env: { HOLDFAST_REPOSITORY: undefined } });
      expect(stderr).toContain(`Error: The configuration ${fileOf(place)} does not exist\n`);
      expect(stderr).toContain(copy);
    }
    await writeFile(fileOf(place), '{}', { mode: 0o600 });
    expect(await config(place, ['get', 'sources'])).toBe('[]\n');
  });

  test('makes the file, changes it with its comments, and takes settings out', async () => {
    await using place = await openPlace();
    expect(await config(place, ['set', 'sources[-]', '{"path": "~/Documents"}'])).toBe(
      `sources[-] was set in ${fileOf(place)}.\n`,
    );
    expect((await stat(fileOf(place))).mode & 0o777).toBe(0o600);
    await writeFile(fileOf(place), '{\n  // two weeks\n  "retention": { "keepDaily": 14 } // days\n}\n');
    await config(place, ['set', 'retention.keepWeekly', 'null']);
    await config(place, ['set', 'maintenance.prune', 'daily at 02:30']);
    const [changed] = jsonLines({ stdout: await config(place, ['unset', 'retention.keepDaily', '--json']) });
    expect(changed).toMatchObject({
      type: 'config_changed',
      key: 'retention.keepDaily',
      file: fileOf(place),
    });
    expect(await readFile(fileOf(place), 'utf8')).toBe(
      '{\n  // two weeks\n  "retention": { "keepWeekly": null }, // days\n  "maintenance": {\n    "prune": "daily at 02:30"\n  }\n}\n',
    );
    expect(await config(place, ['validate'])).toBe(`${fileOf(place)} is valid: 0 sources, 1 destination.\n`);
    expect(await config(place, ['get', 'retention.keepDaily'])).toBe('7\n');
    await config(place, ['set', 'sources[-].path', '~/x']);
    expect(await config(place, ['get', 'sources[0].path'])).toBe('~/x\n');
  });

  test('refuses what would make the file invalid, with advice, and leaves the file alone', async () => {
    await using place = await openPlace();
    await config(place, ['set', 'plan', 'pro']);
    const before = await readFile(fileOf(place), 'utf8');
    expect(await config(place, ['set', 'retention.keepdaily', '3'], 2)).toBe(
      'Error: "retention.keepdaily" is not a setting\nDid you mean "retention.keepDaily"?\n',
    );
    expect(await config(place, ['set', 'retention.keepDaily', '0'], 2)).toContain(
      'Error: retention.keepDaily: 0 is out of bounds\nThe minimum is 1',
    );
    expect(
      await config(place, ['set', 'destinations.nas.url', 's3://bucket?token=hunter2'], 2),
    ).not.toContain('hunter2');
    expect(await config(place, ['set', 'maintenance.prune', '0 0 31 2 *'], 2)).toContain('maintenance.prune');
    expect(await config(place, ['set', 'destinations.nas.url', 'ftp://host/dir'], 2)).toContain(
      'destinations.nas.url',
    );
    expect(await config(place, ['get', 'sources[3]'], 2)).toContain('sources[3] is not configured');
    expect(await config(place, ['frobnicate'], 2)).toContain('Error:');
    const [error] = jsonLines({ stdout: await config(place, ['set', 'plan', 'gold', '--json'], 2) });
    expect(error).toMatchObject({ type: 'error', code: 'INVALID_REQUEST' });
    expect(await readFile(fileOf(place), 'utf8')).toBe(before);
  });

  test('validates any file and names every mistake with line and column', async () => {
    await using place = await openPlace();
    const file = join(place.directory, 'draft.json');
    await writeFile(file, '{\n  "plan": "gold",\n  "sorces": []\n}\n', { mode: 0o600 });
    const { stdout } = await place.expectRun(['config', 'validate', file], 1);
    expect(stdout).toBe(
      `${file}:2:11: plan: "gold" is not possible here. Possible values: "free_trial", "pro", "business".\n` +
        `${file}:3:3: sorces: "sorces" is not a setting. Did you mean "sources"?\n`,
    );
    const json = jsonLines(await place.expectRun(['config', 'validate', file, '--json'], 1));
    expect(json).toMatchObject([
      { type: 'config_check', valid: false, problems: [{ line: 2, column: 11 }, { line: 3 }] },
    ]);
    expect(await config(place, ['validate', join(place.directory, 'absent.json')], 1)).toContain(
      'does not exist',
    );
    // Who may read it matters once it is in use.
    await writeFile(file, '{}');
    await chmod(file, 0o644);
    expect(await config(place, ['validate', file])).toContain(`${file} is valid`);
    expect(await config(place, ['validate', '--config', file], 1)).toContain(`Run: chmod 600 ${file}`);
  });

  test('works on another file with --config, and does not touch a broken one', async () => {
    await using place = await openPlace();
    const file = join(place.directory, 'own', 'config.json');
    await config(place, ['set', 'plan', 'business', '--config', file]);
    expect(await config(place, ['get', 'plan', '--config', file])).toBe('business\n');
    expect(await config(place, ['get', 'plan'])).toBe('free_trial\n');
    await writeFile(file, '{"plan": ');
    expect(await config(place, ['set', 'plan', 'pro', '--config', file], 1)).toContain('line 1, column 10');
    expect(await readFile(file, 'utf8')).toBe('{"plan": ');
  });

  test.runIf(obeyingModes() !== undefined)('says who may not read the file', async () => {
    await using place = await openPlace();
    await config(place, ['set', 'plan', 'pro']);
    await chmod(fileOf(place), 0o000);
    const under = obeyingModes() ?? [];
    const { stderr } = await place.expectRun(['config', 'get', 'plan'], 1, { under });
    expect(stderr).toMatch(/^Error: The configuration .*config\.json cannot be read: permission denied\n/);
    expect(stderr).toContain('chmod 600');
  });

  test('prints the schema', async () => {
    await using place = await openPlace();
    expect(await config(place, ['schema'])).toBe(jsonSchemaText());
  });

  test('explains itself', async () => {
    await using place = await openPlace();
    expect(await config(place, ['--help'])).toMatch(/get .*\n.*set .*\n/);
    expect(await config(place, ['set', '--help'])).toContain('sources[-]');
  });
});
