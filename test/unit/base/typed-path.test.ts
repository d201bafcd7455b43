import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, constantFrom, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { asByteString, bytesOfText, textWithBytes } from '../../../src/base/byte-path.ts';
import { shellCommand, startable } from '../../../src/base/shell-words.ts';
import { filePath, realPath } from '../../../src/base/typed-path.ts';
import { printable } from '../../../src/cli/terminal/terminal.ts';

const BAD = 'bad\uDCFF';

test('any bytes are a text that is these bytes again, and no two are the same text', () => {
  assert(
    property(
      uint8Array({ maxLength: 12 }),
      array(constantFrom(0xc3, 0xa4, 0xf0, 0x9f, 0x97, 0x9d)),
      (any, parts) => {
        for (const bytes of [any, Uint8Array.from(parts)]) {
          const name = asByteString(Buffer.from(bytes).toString('latin1'));
          expect(bytesOfText(textWithBytes(name))).toBe(name);
        }
      },
    ),
  );
  expect(textWithBytes(asByteString('\u00c3\u00a4\u00ff'))).toBe('ä\uDCFF');
  // A pair is a character, whatever its halves look like.
  expect(bytesOfText('\uD83D\uDCFF')).toBe(Buffer.from('📿').toString('latin1'));
});

test('what is shown of such a path says which byte it is', () => {
  expect(printable(BAD)).toBe('bad\\xff');
});

test.runIf(process.platform === 'linux')('the file system gets the bytes and gives them back', () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-typed-')));
  try {
    mkdirSync(filePath(join(directory, BAD)));
    symlinkSync(filePath(join(directory, BAD)), join(directory, 'link'));
    expect(realPath(join(directory, 'link'))).toBe(join(directory, BAD));
    expect(realPath(join(directory, BAD))).toBe(join(directory, BAD));
    expect(() => realPath(join(directory, 'bad\uDCFE'))).toThrow('ENOENT');
    writeFileSync(filePath(join(directory, BAD, "it's ä")), 'content');
    const [program, ...words] = startable(['cat', join(directory, BAD, "it's ä")]);
    expect(execFileSync(program, words, { encoding: 'utf8' })).toBe('content');
    const command = `cat '${join(directory, BAD)}'/* && exit 0`;
    expect(execFileSync('/bin/sh', ['-c', shellCommand(command)], { encoding: 'utf8' })).toBe('content');
    expect(startable(['cat', 'ä'])).toEqual(['cat', 'ä']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
