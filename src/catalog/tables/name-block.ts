/**
 * Stores the names of some thousand nodes in one piece to search them in: going through a million names takes some
 * milliseconds, however short the text is that is looked for. An index of trigrams would be larger than the names, slow
 * down every ingest, and could not find "漢字".
 */
import { isAscii, type ByteString } from '../../base/byte-path.ts';
import { StateError } from '../../base/errors.ts';
import { foldText } from './name-pattern.ts';

/** Names in a full block. */
export const NAMES_PER_BLOCK = 8_192;

export interface Named {
  readonly node: number;
  readonly directory: number;
  /** Bytes of the folded name in UTF-8, as Latin-1. */
  readonly folded: string;
}

/** Nodes in order of their numbers. */
export interface NameBlock {
  readonly nodes: Uint32Array;
  readonly directories: Uint32Array;
  /** Where each name begins in `text`, followed by the end of the text. */
  readonly starts: Uint32Array;
  /** Folded names as Latin-1, each followed by a zero byte. */
  readonly text: string;
}

/** The folded name: bytes in UTF-8, as Latin-1. What is not UTF-8 becomes U+FFFD. */
export function foldedBytes(name: ByteString): string {
  if (isAscii(name)) return name.toLowerCase();
  return Buffer.from(foldText(Buffer.from(name, 'latin1').toString('utf8'))).toString('latin1');
}

export function encodeNames(names: readonly Named[]): Buffer {
  const numbers = new Uint32Array(names.length * 3 + 1);
  const texts: string[] = [];
  let end = 0;
  for (const [i, { node, directory, folded }] of names.entries()) {
    numbers[i] = node;
    numbers[names.length + i] = directory;
    end += folded.length + 1;
    numbers[names.length * 2 + i + 1] = end;
    texts.push(folded);
  }
  return Buffer.concat([new Uint8Array(numbers.buffer), Buffer.from(`${texts.join('\0')}\0`, 'latin1')]);
}

/** @throws {StateError} CATALOG_DAMAGED */
export function decodeNames(block: Buffer, count: number): NameBlock {
  const size = (count * 3 + 1) * 4;
  const numbers = new Uint32Array(count * 3 + 1);
  new Uint8Array(numbers.buffer).set(block.subarray(0, size));
  if (block.length !== size + (numbers.at(-1) ?? 0)) {
    throw new StateError('CATALOG_DAMAGED', 'The catalog is damaged: a block of names has the wrong length');
  }
  return {
    nodes: numbers.subarray(0, count),
    directories: numbers.subarray(count, count * 2),
    starts: numbers.subarray(count * 2),
    text: block.toString('latin1', size),
  };
}

export function namesIn({ nodes, directories, starts, text }: NameBlock): Named[] {
  return Array.from(nodes, (node, i) => ({
    node,
    directory: directories[i] ?? 0,
    folded: text.slice(starts[i], (starts[i + 1] ?? 1) - 1),
  }));
}

/** Bytes that a block takes in memory. */
export function bytesOf({ nodes, text }: NameBlock): number {
  return nodes.length * 12 + text.length;
}
