import { chmod, chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Secret, resolveSecret, type SecretContext } from '../../../src/config/secret.ts';
import type { SecretReference } from '../../../src/config/settings.ts';
import { openConfigPlace } from '../../support/config-place.ts';
import { isAlive } from '../../support/is-alive.ts';
import { manualClock } from '../../support/manual-clock.ts';

const context: SecretContext = {
  env: { PATH: '/usr/bin:/bin', TOKEN: 'from env' },
  home: '/home/anna',
  clock: systemClock,
};

async function found(reference: SecretReference, changes: Partial<SecretContext> = {}): Promise<string> {
  const secret = await resolveSecret(reference, { ...context, ...changes }, new AbortController().signal);
  return secret.reveal();
}

describe('a secret in memory', () => {
  test('is shown nowhere by accident', () => {
    const secret = new Secret('hunter2');
    const said = [
      String(secret),
      secret.toString(),
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ deep: { secret } }, { showHidden: true, depth: 9 }),
      Object.keys(secret).join(),
      inspect(new Error('x', { cause: secret })),
    ].join(' ');
    expect(said).toContain('[secret]');
    expect(said).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });
});

describe('a secret by reference', () => {
  test('is read from a private file, also in the home directory and behind a link', async () => {
    await using place = await openConfigPlace();
    const file = join(place.directory, 'pass');
    await writeFile(file, 'from file\n', { mode: 0o600 });
    expect(await found({ file })).toBe('from file');
    expect(await found({ file: '~/pass' }, { home: place.directory })).toBe('from file');
    await symlink(file, join(place.directory, 'link'));
    expect(await found({ file: join(place.directory, 'link') })).toBe('from file');
  });

  test.each([0o640, 0o604, 0o660, 0o666])(
    'is refused from a file with mode %o, with the command that helps',
    async (mode) => {
      await using place = await openConfigPlace();
      const file = join(place.directory, 'pass');
      await writeFile(file, 'x');
      await chmod(file, mode);
      await expect(found({ file })).rejects.toMatchObject({
        code: 'SECRET_UNSAFE',
        message: `The secret file ${file} is open to other users (mode 0${mode.toString(8)})`,
        hint: `Run: chmod 600 ${file}`,
      });
    },
  );

  test.runIf(process.getuid?.() === 0)('is refused from a file of somebody else', async () => {
    await using place = await openConfigPlace();
    const file = join(place.directory, 'pass');
    await writeFile(file, 'x', { mode: 0o600 });
    await chown(file, 12_345, 12_345);
    await expect(found({ file })).rejects.toMatchObject({ code: 'SECRET_UNSAFE' });
  });

  test('is refused when the file is absent, empty, a directory, or no text', async () => {
    await using place = await openConfigPlace();
    const file = join(place.directory, 'pass');
    await expect(found({ file })).rejects.toMatchObject({
      code: 'SECRET_UNAVAILABLE',
      message: expect.stringContaining('ENOENT'),
    });
    await writeFile(file, '\n', { mode: 0o600 });
    await expect(found({ file })).rejects.toThrow('is empty');
    await writeFile(file, 'a\0b', { mode: 0o600 });
    await expect(found({ file })).rejects.toThrow('NUL character');
    await writeFile(file, 'x'.repeat(65_537), { mode: 0o600 });
    await expect(found({ file })).rejects.toThrow('larger than 64 KiB');
    await mkdir(join(place.directory, 'd'), { mode: 0o700 });
    await expect(found({ file: join(place.directory, 'd') })).rejects.toMatchObject({
      code: 'SECRET_UNAVAILABLE',
    });
  });

  test.each<[string, Buffer]>([
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFpäss\r\n')],
    ['UTF-16 of Windows', Buffer.from('\uFEFFpäss\r\n', 'utf16le')],
    ['UTF-16 the other way round', Buffer.from('\uFEFFpäss\r\n', 'utf16le').swap16()],
  ])('is the same in %s', async (_name, bytes) => {
    await using place = await openConfigPlace();
    const file = join(place.directory, 'pass');
    await writeFile(file, bytes, { mode: 0o600 });
    expect(await found({ file })).toBe('päss');
    expect(await found({ command: `cat ${file}` })).toBe('päss');
    expect(await found({ credential: 'pass' }, { env: { CREDENTIALS_DIRECTORY: place.directory } })).toBe(
      'päss',
    );
  });

  test('is never read with anything in place of its bytes', async () => {
    await using place = await openConfigPlace();
    const file = join(place.directory, 'pass');
    await writeFile(file, Buffer.from('p\u00e4ss\n', 'latin1'), { mode: 0o600 });
    const env = { CREDENTIALS_DIRECTORY: place.directory, TOKEN: 'p\uFFFDss' };
    for (const reference of [{ file }, { command: `cat ${file}` }, { credential: 'pass' }, { env: 'TOKEN' }])
      await expect(found(reference, { env: { ...context.env, ...env } })).rejects.toThrow(
        'is not valid UTF-8',
      );
    await writeFile(file, Buffer.from('\uFEFF\uD800x', 'utf16le'));
    await expect(found({ file })).rejects.toThrow('is not valid UTF-8');
    await writeFile(file, Buffer.from('pass', 'utf16le'));
    await expect(found({ file })).rejects.toThrow('like UTF-16 text without a byte order mark');
  });

  test('is what a command printed until it ended, whatever it leaves running', async () => {
    const begun = performance.now();
    expect(await found({ command: 'sleep 20 & echo secret' })).toBe('secret');
    expect(await found({ command: '(sleep 20 &); head -c 60000 /dev/zero | tr "\\0" x' })).toHaveLength(
      60_000,
    );
    await expect(found({ command: 'sleep 20 & exit 5' })).rejects.toThrow('exit code 5');
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  test('is taken from the environment that was handed in, and from nowhere else', async () => {
    expect(await found({ env: 'TOKEN' })).toBe('from env');
    await expect(found({ env: 'HOME' })).rejects.toThrow(
      'The environment variable HOME for a secret is not set',
    );
  });

  test('is printed by a command, whose failure never shows what it printed', async () => {
    expect(await found({ command: 'echo from command' })).toBe('from command');
    await expect(found({ command: 'echo hunter2; exit 3' })).rejects.toThrow(
      'The command for a secret failed (exit code 3)',
    );
    await expect(found({ command: 'kill -9 $$' })).rejects.toThrow('(SIGKILL)');
    await expect(found({ command: 'true' })).rejects.toThrow('is empty');
    await expect(found({ command: 'head -c 70000 /dev/zero | tr "\\0" x' })).rejects.toThrow(
      'more than 64 KiB',
    );
    expect(await found({ command: 'cat; echo asked nothing' })).toBe('asked nothing');
  });

  test('is given up when the command takes too long, and what the command started ends', async () => {
    await using place = await openConfigPlace();
    const mark = join(place.directory, 'mark');
    const clock = manualClock();
    const asked = found({ command: `sleep 600 & echo $! > ${mark}; sleep 600` }, { clock });
    const refused = expect(asked).rejects.toThrow('took longer than 30 seconds');
    const started = async (): Promise<number> => Number(await readFile(mark, 'utf8').catch(() => ''));
    await expect.poll(started, { timeout: 30_000 }).toBeGreaterThan(0);
    const pid = await started();
    expect(isAlive(pid)).toBe(true);
    await clock.advance(30_000);
    await refused;
    await expect.poll(() => isAlive(pid), { timeout: 30_000 }).toBe(false);
  });

  test('is not waited for after an abort', async () => {
    const controller = new AbortController();
    const asked = resolveSecret({ command: 'sleep 60' }, context, controller.signal);
    const refused = expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    await delay(50);
    controller.abort();
    await refused;
  });

  test('is a credential of systemd, whatever the mode of its file', async () => {
    await using place = await openConfigPlace();
    await writeFile(join(place.directory, 'pass'), 'from systemd', { mode: 0o440 });
    const env = { CREDENTIALS_DIRECTORY: place.directory };
    expect(await found({ credential: 'pass' }, { env })).toBe('from systemd');
    await expect(found({ credential: 'pass' })).rejects.toThrow('systemd gave none');
    await expect(found({ credential: 'other' }, { env })).rejects.toThrow('ENOENT');
    await expect(found({ credential: '../pass' }, { env })).rejects.toThrow('not the name of a credential');
  });
});
