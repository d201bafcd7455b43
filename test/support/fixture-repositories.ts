/** The repositories in test/fixtures/repositories, which released versions have made. */

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pack as tarPack } from 'tar-stream';
import type { Manifest } from './tree-manifest.ts';

/** What a fixture's JSON file says. */
export interface FixtureFacts {
  readonly passphrase: string;
  readonly recovery_code: string;
  /** In hex, where there is one. */
  readonly machine_key?: string;
  /** In hex, where there is one: it adds backups and reads none. */
  readonly write_only_key?: string;
  readonly removed_write_only_key?: string;
  /** What opened the repository once, and does no longer. */
  readonly removed?: { readonly passphrase: string; readonly recovery_code: string };
  readonly repository: string;
  /** Live ones by what they are, with everything below `source`. */
  readonly snapshots: Readonly<Record<string, { readonly id: string; readonly source: string } & Manifest>>;
  /** Still stored, but not to be shown. */
  readonly forgotten: readonly string[];
}

export const FIXTURES = ['format-1', 'format-1-more', 'format-2'] as const;

const directory = path.join(import.meta.dirname, '..', 'fixtures', 'repositories');

export function fixtureFacts(name: string): FixtureFacts {
  return JSON.parse(readFileSync(path.join(directory, `${name}.json`), 'utf8')) as FixtureFacts;
}

/** Puts the repository's files below `store`. */
export function unpackFixture(name: string, store: string): void {
  for (const [file, content] of tarFiles(readFileSync(path.join(directory, `${name}.tar`)))) {
    mkdirSync(path.dirname(path.join(store, file)), { recursive: true });
    writeFileSync(path.join(store, file), content);
  }
}

/** The files of a tar with short names: 512 bytes of header, the content, padded to 512. */
function tarFiles(tar: Buffer): [name: string, content: Buffer][] {
  const files: [string, Buffer][] = [];
  for (let at = 0; tar[at] !== 0 && at < tar.length;) {
    const text = (from: number, to: number): string =>
      tar.toString('latin1', at + from, at + to).split('\0')[0] ?? '';
    const size = Number.parseInt(text(124, 136), 8);
    files.push([text(0, 100), tar.subarray(at + 512, at + 512 + size)]);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

/** Writes `<output>.tar` and `<output>.json`; gives the length of the tar. */
export async function writeFixture(output: string, store: string, facts: FixtureFacts): Promise<number> {
  const tar = await tarOf(store);
  mkdirSync(path.dirname(output), { recursive: true });
  writeFileSync(`${output}.tar`, tar);
  writeFileSync(`${output}.json`, `${JSON.stringify(facts, undefined, 1)}\n`);
  return tar.length;
}

/** All files below a directory in one tar, with nothing in it that depends on who packs when. */
async function tarOf(store: string): Promise<Buffer> {
  const tar = tarPack();
  const files = readdirSync(store, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => path.relative(store, path.join(found.parentPath, found.name)))
    .sort();
  for (const name of files)
    tar.entry({ name, mode: 0o600, mtime: new Date(0) }, readFileSync(path.join(store, name)));
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts);
}
