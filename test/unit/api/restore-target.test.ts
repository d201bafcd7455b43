import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { checkInPlace, checkTarget, type TargetRules } from '../../../src/api/routes/restore-target.ts';
import { testSettings } from '../../support/api-site.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-target-')));
  for (const name of ['state', 'repository', 'free']) mkdirSync(path.join(root, name));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function rules(allowedRoots: readonly string[] = []): TargetRules {
  return {
    stateDirectory: path.join(root, 'state'),
    settings: { ...testSettings('pro'), restore: { allowedRoots } },
    stores: [path.join(root, 'repository'), path.join(root, 'ré')],
  };
}

async function reason(target: string, allowedRoots?: readonly string[]): Promise<unknown> {
  try {
    await checkTarget(target, rules(allowedRoots));
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_TARGET', statusCode: 400 });
    return (error as { readonly details: Readonly<Record<string, unknown>> }).details['reason'];
  }
}

describe('a target', () => {
  test('may be a directory, or what does not exist below one', async () => {
    expect(await checkTarget(`${root}/free`, rules())).toBe(`${root}/free`);
    expect(await checkTarget(`${root}//free/./a/../b/c`, rules())).toBe(`${root}/free/b/c`);
  });

  test.each([
    ['free', 'not_absolute'],
    ['~/free', 'not_absolute'],
    ['', 'not_absolute'],
  ])('of %j is %s', async (target, expected) => {
    expect(await reason(target)).toBe(expected);
  });

  test('is neither in the state directory nor in a repository, by whatever name', async () => {
    symlinkSync(path.join(root, 'state'), path.join(root, 'free', 'link'));
    expect(await reason(`${root}/state`)).toBe('inside_state_directory');
    expect(await reason(`${root}/free/../state/x/y`)).toBe('inside_state_directory');
    expect(await reason(`${root}/free/link/new`)).toBe('inside_state_directory');
    expect(await reason(`${root}/repository/packs`)).toBe('inside_repository');
    expect(await reason(`${root}/ré/x`)).toBe('inside_repository');
    expect(await reason(`${root}/state-of-things`)).toBeUndefined();
  });

  test('is below an allowed directory, once links are followed', async () => {
    mkdirSync(path.join(root, 'free', 'inner'));
    symlinkSync(path.join(root, 'free'), path.join(root, 'out'));
    const allowed = [path.join(root, 'nowhere'), path.join(root, 'free', 'inner')];
    expect(await reason(`${root}/free/inner`, allowed)).toBeUndefined();
    expect(await reason(`${root}/out/inner/x`, allowed)).toBeUndefined();
    expect(await reason(`${root}/free`, allowed)).toBe('not_allowed');
    expect(await reason(`${root}/free/inner2`, allowed)).toBe('not_allowed');
    expect(await reason(`${root}/free/inner/../x`, allowed)).toBe('not_allowed');
  });

  test('is no file, and not below one', async () => {
    writeFileSync(path.join(root, 'free', 'file'), '');
    expect(await reason(`${root}/free/file`)).toBe('not_a_directory');
    expect(await reason(`${root}/free/file/below`)).toBe('not_a_directory');
  });

  test('is writable; else the command that makes it so is named', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may write everywhere');
    mkdirSync(path.join(root, 'free', 'closed'), { mode: 0o500 });
    expect(await reason(`${root}/free/closed/x`)).toBe('not_writable');
    await expect(checkTarget(`${root}/free/closed`, rules())).rejects.toThrow(/setfacl/);
  });
});

describe('in place', () => {
  const inPlace = async (places: readonly string[], allowedRoots?: readonly string[]): Promise<void> => {
    await checkInPlace(places.map(treePath), rules(allowedRoots));
  };
  const refusal = { details: { reason: 'not_allowed' } };

  test('is allowed where all of it is', async () => {
    await inPlace(['/home/ana']);
    await inPlace(['/home/ana'], ['/home']);
    await expect(inPlace(['/home/ana'], ['/srv'])).rejects.toMatchObject(refusal);
    await inPlace(['/home/ana', '/srv/x'], ['/home', '/srv']);
    await expect(inPlace(['/home/ana', '/etc'], ['/home', '/srv'])).rejects.toMatchObject(refusal);
    await expect(inPlace(['/home', '/srv/x'], ['/home/ana', '/srv'])).rejects.toMatchObject(refusal);
  });

  test('is allowed by the names that are text, where others are not', async () => {
    const odd = asByteString('/home/ana/\xff/deep/\xfe');
    await checkInPlace([odd], rules(['/home']));
    await expect(checkInPlace([odd], rules(['/srv']))).rejects.toMatchObject(refusal);
    await expect(checkInPlace([asByteString('/\xff')], rules(['/srv']))).rejects.toMatchObject(refusal);
    await checkInPlace([asByteString('/\xff')], rules(['/']));
  });
});
