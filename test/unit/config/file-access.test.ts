import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, rm, symlink } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readConfigBytes } from '../../../src/config/file-access.ts';
import { openConfigPlace } from '../../support/config-place.ts';

const asRoot = process.getuid?.() === 0;

describe('the configuration file', () => {
  test('is read when it and its directory are ours alone to change', async () => {
    await using place = await openConfigPlace();
    expect(await readConfigBytes(place.file)).toBeUndefined();
    await place.write('{}');
    expect((await readConfigBytes(place.file))?.toString()).toBe('{}');
    await chmod(place.file, 0o400);
    await chmod(place.context.stateDirectory, 0o755);
    expect((await readConfigBytes(place.file))?.toString()).toBe('{}');
  });

  test.each([
    [0o644, 'read'],
    [0o640, 'read'],
    [0o604, 'read'],
    [0o620, 'changed'],
    [0o666, 'changed'],
  ])('is refused with mode %o, with the command that helps', async (mode, what) => {
    await using place = await openConfigPlace();
    await place.write('{}');
    await chmod(place.file, mode);
    await expect(readConfigBytes(place.file)).rejects.toMatchObject({
      code: 'CONFIG_UNSAFE',
      message: `The configuration ${place.file} can be ${what} by other users (mode 0${mode.toString(8)})`,
      hint: `Run: chmod 600 ${place.file}`,
    });
  });

  test.each([0o775, 0o777, 0o1777])('is refused in a directory with mode %o', async (mode) => {
    await using place = await openConfigPlace();
    await place.write('{}');
    await chmod(place.context.stateDirectory, mode);
    await expect(readConfigBytes(place.file)).rejects.toMatchObject({
      code: 'CONFIG_UNSAFE',
      hint: `Run: chmod go-w ${place.context.stateDirectory}`,
    });
  });

  test.runIf(asRoot)('is refused when it or its directory belongs to somebody else', async () => {
    await using place = await openConfigPlace();
    await place.write('{}');
    await chown(place.file, 12_345, 12_345);
    await expect(readConfigBytes(place.file)).rejects.toMatchObject({
      code: 'CONFIG_UNSAFE',
      message: `The configuration ${place.file} belongs to user 12345, not to the user that the agent runs as`,
      hint: `Run: chown 0 ${place.file}`,
    });
    await chown(place.file, 0, 0);
    await chown(place.context.stateDirectory, 12_345, 12_345);
    await expect(readConfigBytes(place.file)).rejects.toThrow('The directory of the configuration');
  });

  test('is refused when it is a link, a directory or a pipe, without waiting', async () => {
    await using place = await openConfigPlace();
    await symlink('elsewhere', place.file);
    await expect(readConfigBytes(place.file)).rejects.toThrow('is a symbolic link');
    await rm(place.file);
    await mkdir(place.file, { mode: 0o700 });
    await expect(readConfigBytes(place.file)).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
      message: `The configuration ${place.file} is a directory`,
    });
    await rm(place.file, { recursive: true });
    expect(spawnSync('mkfifo', ['-m', '600', place.file]).status).toBe(0);
    await expect(readConfigBytes(place.file)).rejects.toThrow('is not a regular file');
  });

  test('that is huge is refused without being read', async () => {
    await using place = await openConfigPlace();
    await place.write('');
    spawnSync('truncate', ['-s', '20G', place.file]);
    await expect(readConfigBytes(place.file)).rejects.toThrow('is larger than 1 MiB');
  });
});
