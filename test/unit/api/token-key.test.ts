import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPrivateFile } from '../../../src/api/access/private-file.ts';
import { openApiKeys } from '../../../src/api/access/token-key.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'holdfast-key-'));
  file = path.join(directory, 'token.key');
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe("the installation's key", () => {
  test('L08, L19: is 32 random bytes for the owner alone, made once, and leaves nothing beside it', async () => {
    const first = await openApiKeys(directory);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(file).size).toBe(32);
    expect(readdirSync(directory)).toEqual(['token.key']);
    const content = readFileSync(file);
    expect(await openApiKeys(directory)).toEqual(first);
    expect(readFileSync(file)).toEqual(content);
    const derived = [first.tokens, first.secrets, first.cursors].map((key) =>
      Buffer.from(key).toString('hex'),
    );
    expect(new Set([...derived, content.toString('hex')]).size).toBe(4);
  });

  test('is one, when two processes make it at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, async () => await openApiKeys(directory)));
    for (const keys of all) expect(keys).toEqual(all[0]);
    expect(readdirSync(directory)).toEqual(['token.key']);
  });

  const modes = [
    0o601,
    0o602,
    0o604,
    0o606,
    0o610,
    0o620,
    0o640,
    0o644,
    0o660,
    0o664,
    0o666,
    0o700 | 0o070,
    0o777,
  ];

  test.each(modes)('L08: is not used when its mode is %o', async (mode) => {
    await openApiKeys(directory);
    chmodSync(file, mode);
    await expect(openApiKeys(directory)).rejects.toMatchObject({
      code: 'STATE_NOT_PRIVATE',
      hint: expect.stringContaining(`chmod 600 ${file}`),
    });
  });

  test.each([0o701, 0o705, 0o710, 0o720, 0o750, 0o755, 0o770, 0o777, 0o1777])(
    'L08: is neither used nor made when the mode of its directory is %o',
    async (mode) => {
      chmodSync(directory, mode);
      await expect(openApiKeys(directory)).rejects.toMatchObject({
        code: 'STATE_NOT_PRIVATE',
        hint: expect.stringContaining(`chmod 700 ${directory}`),
      });
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  test.runIf(process.getuid?.() === 0)(
    'L08: is not used when it, or its directory, is somebody else’s',
    async () => {
      await openApiKeys(directory);
      chownSync(file, 12_345, 0);
      await expect(openApiKeys(directory)).rejects.toMatchObject({ code: 'STATE_NOT_PRIVATE' });
      chownSync(file, 0, 0);
      chownSync(directory, 12_345, 0);
      await expect(openApiKeys(directory)).rejects.toMatchObject({ code: 'STATE_NOT_PRIVATE' });
    },
  );

  test('L08: is not read through a link, from a pipe or a directory, nor when it is cut short', async () => {
    const elsewhere = path.join(directory, 'elsewhere');
    writeFileSync(elsewhere, Buffer.alloc(32), { mode: 0o600 });
    symlinkSync(elsewhere, file);
    await expect(openApiKeys(directory)).rejects.toMatchObject({ code: 'READ_ERROR', hint: /symbolic link/ });
    rmSync(file);
    symlinkSync(path.join(directory, 'nothing'), file);
    await expect(openApiKeys(directory)).rejects.toMatchObject({ code: 'READ_ERROR' });
    expect(readdirSync(directory).sort()).toEqual(['elsewhere', 'token.key']);
    rmSync(file);
    execFileSync('mkfifo', ['-m', '600', file]);
    await expect(openApiKeys(directory)).rejects.toMatchObject({ code: 'STATE_DAMAGED' });
    rmSync(file);
    mkdirSync(file, { mode: 0o700 });
    await expect(openApiKeys(directory)).rejects.toMatchObject({ code: 'STATE_DAMAGED' });
    rmSync(file, { recursive: true });
    for (const size of [0, 31, 33]) {
      writeFileSync(file, Buffer.alloc(size), { mode: 0o600 });
      await expect(openApiKeys(directory), String(size)).rejects.toMatchObject({ code: 'STATE_DAMAGED' });
    }
    rmSync(directory, { recursive: true });
    await expect(openApiKeys(directory)).rejects.toMatchObject({ code: 'READ_ERROR' });
  });
});

describe('a private file', () => {
  test('never takes the place of another one', async () => {
    writeFileSync(file, 'there before');
    expect(await createPrivateFile(file, Buffer.from('new'))).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('there before');
    expect(readdirSync(directory)).toEqual(['token.key']);
  });

  test('that cannot be written is a StateError', async () => {
    await expect(createPrivateFile(path.join(directory, 'a', 'b'), Buffer.from('x'))).rejects.toMatchObject({
      code: 'WRITE_ERROR',
    });
  });
});
