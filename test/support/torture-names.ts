/** Torture tree: names and path lengths. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { asByteString, bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { insideDirectory } from './long-path.ts';
import { NotAllowedHere } from './torture-site.ts';
import type { TortureSite } from './torture-site.ts';

/** Names as text; twins that some file systems take for one name stand side by side. */
const textNames: readonly (readonly [string, string])[] = [
  ['newline', 'two\nlines'],
  ['only a newline', '\n'],
  ['tab', 'a\ttab'],
  ['carriage return', 'return\r'],
  ['control character', '\u0001'],
  ['terminal escape', '\u001b[31mred\u001b[0m'],
  ['delete character', '\u007f'],
  ['composed accent (NFC)', 'r\u00e9sum\u00e9'],
  ['decomposed accent (NFD)', 're\u0301sume\u0301'],
  ['lower case', 'case'],
  ['capital', 'Case'],
  ['upper case', 'CASE'],
  ['leading dash', '-rf'],
  ['option', '--delete'],
  ['255 bytes', 'n'.repeat(255)],
  ['255 bytes of three-byte characters', '\u3042'.repeat(85)],
  ['right-to-left override', 'photo\u202egpj.exe'],
  ['right-to-left script', '\u05e9\u05dc\u05d5\u05dd'],
  ['zero-width space', 'zero\u200bwidth'],
  ['trailing dot', 'dot.'],
  ['trailing space', 'space '],
  ['leading space', ' space'],
  ['only a space', ' '],
  ['three dots', '...'],
  ['leading dot', '.hidden'],
  ['backslash', 'back\\slash'],
  ['backslash n', 'not\\na-newline'],
  ['single quote', "single'quote"],
  ['double quote', 'double"quote'],
  ['backtick and dollar', '`id`$HOME'],
  ['wildcards', '*?[a-z]{b,c}'],
  ['comment and negation', '#comment'],
  ['exclamation mark', '!important'],
  ['tilde', '~'],
  ['colon', 'C:'],
  ['alternate stream', 'file:stream'],
  ['percent', '100%25'],
  ['semicolon and ampersand', 'a;b&c|d>e<f'],
  ['device name of another system', 'NUL'],
  ['device name with extension', 'aux.txt'],
  ['name of the system', 'lost+found'],
  ['emoji with joiners', '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}'],
  ['character beyond the first plane', '\u{20000}'],
  ['property name of objects', '__proto__'],
  ['replacement character', '\ufffd'],
];

/** Names that are no UTF-8; the first ones read as the same text when decoded carelessly. */
const byteNames: readonly (readonly [string, string])[] = [
  ['Latin-1 accent', 'caf\u00e9'],
  ['another Latin-1 accent', 'caf\u00e8'],
  ['bytes FF FE', '\u00ff\u00fe'],
  ['encoded surrogate', '\u00ed\u00a0\u0080'],
  ['overlong slash', '\u00c0\u00af'],
  ['cut sequence', 'cut\u00e2\u0082'],
  ['255 bytes FF', '\u00ff'.repeat(255)],
];

export function makeNames(site: TortureSite): void {
  const names = [
    ...textNames.map(([what, name]) => [what, bytesOfText(name)] as const),
    ...byteNames.map(([what, name]) => [what, asByteString(name)] as const),
  ];
  for (const kind of ['files', 'directories', 'links'])
    mkdirSync(fsPath(joinBytes(site.directory, bytesOfText(kind))));
  for (const [what, name] of names) {
    // The content says the name, so that two files that swapped theirs are noticed.
    const content = `${Buffer.from(name, 'latin1').toString('hex')}\n`;
    site.make(asByteString(`files/${name}`), `name: ${what}`, (path) => {
      writeFileSync(fsPath(path), content, { flag: 'wx' });
    });
    site.make(asByteString(`directories/${name}`), `directory name: ${what}`, (path) => {
      mkdirSync(fsPath(path));
      writeFileSync(fsPath(joinBytes(path, bytesOfText('inside'))), content, { flag: 'wx' });
    });
    site.make(asByteString(`links/${name}`), `link name: ${what}`, (path) => {
      symlinkSync(fsPath(asByteString(`../files/${name}`)), fsPath(path));
    });
  }
}

export function makeDeepPaths(site: TortureSite): void {
  site.make(bytesOfText('levels'), '200 directories inside each other', (path) => {
    let here = path;
    mkdirSync(fsPath(here));
    for (let level = 1; level <= 200; level += 1) {
      here = joinBytes(here, bytesOfText(`level-${level}`));
      mkdirSync(fsPath(here));
      if (level % 50 === 0) writeFileSync(fsPath(joinBytes(here, bytesOfText('file'))), `level ${level}\n`);
    }
  });
}

export function makePathsBeyondLimit(site: TortureSite): void {
  site.make(bytesOfText('long'), '40 directories with names of 200 bytes, 8 kB in all', (path) => {
    if (process.platform !== 'linux') throw new NotAllowedHere('only made on Linux');
    mkdirSync(fsPath(path));
    descend(site.directory, bytesOfText('long'), 40);
  });
}

function descend(parent: ByteString, name: ByteString, levels: number): void {
  insideDirectory(parent, name, (reachable) => {
    const file = joinBytes(reachable, bytesOfText('file'));
    writeFileSync(fsPath(file), `${levels} levels to go\n`, { flag: 'wx' });
    if (levels === 0) return;
    const next = bytesOfText(`${levels}-`.padEnd(200, 'x'));
    mkdirSync(fsPath(joinBytes(reachable, next)));
    descend(reachable, next, levels - 1);
  });
}
