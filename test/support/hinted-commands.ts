/** Every command that a text of the sources names by one of the tags of src/base/holdfast-command.ts and src/ui/agent/program.ts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesBelow } from './names-below.ts';

export interface HintedCommand {
  /** Below `src`. */
  readonly file: string;
  readonly line: number;
  /** What is put in is `VALUE`. */
  readonly text: string;
}

const SOURCES = join(import.meta.dirname, '..', '..', 'src');
/** Where an expression begins: a text may end in the same word. */
const TAG =
  /(?<=(?:\$\{|[([{?:,=>&|]|\breturn)\s*)(?:holdfast|holdfastThere|holdfastForAnybody|holdfastElsewhere|sudoHoldfast)`/g;

export function hintedCommands(): readonly HintedCommand[] {
  return sourceFiles().flatMap((file) => commandsIn(file, sourceOf(file)));
}

/** Below `src`. */
export function sourceFiles(): readonly string[] {
  return namesBelow(SOURCES)
    .filter((name) => /\.tsx?$/.test(name))
    .toSorted();
}

export function sourceOf(file: string): string {
  return readFileSync(join(SOURCES, file), 'utf8');
}

export function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}

/** Comments may show tags, which mean nothing there. */
function commandsIn(file: string, source: string): readonly HintedCommand[] {
  return [...source.matchAll(TAG)]
    .filter(({ index }) => !/^\s*(?:\/?\*|\/\/)/.test(lineAt(source, index)))
    .map(({ index, 0: tag }) => ({
      file,
      line: source.slice(0, index).split('\n').length,
      text: `${templateAt(source, index + tag.length)}${tag.startsWith('holdfastThere') ? ' -r VALUE' : ''}`,
    }));
}

function lineAt(source: string, index: number): string {
  return source.slice(source.lastIndexOf('\n', index) + 1, index + 1);
}

/** The text of a template literal up to its end; what it is filled with may hold templates in turn. */
function templateAt(source: string, start: number): string {
  let text = '';
  for (let at = start; source[at] !== '`'; at += 1) {
    if (source.startsWith('${', at)) {
      at = endOfValue(source, at + 2);
      text += 'VALUE';
    } else text += source[at] ?? '';
    if (at >= source.length) throw new Error('a template literal has no end');
  }
  return text;
}

function endOfValue(source: string, start: number): number {
  let depth = 1;
  for (let at = start; at < source.length; at += 1) {
    if (source[at] === '{') depth += 1;
    if (source[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error('a template literal has no end');
}

/** As a shell takes a line apart; what is sent elsewhere is no word of the command. */
export function shellWords(line: string): readonly string[] {
  const words = [...line.replace(/ > .*$/, '').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)];
  return words.map(([word]) => word.replaceAll(/['"]/g, ''));
}
