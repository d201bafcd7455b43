/**
 * A tree with every kind of entry, name, size, right, attribute and time that a backup has to keep.
 * As a script: `node test/support/torture-tree.ts DIR [--without SECTION]… [--json]`.
 */

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { errnoOf } from '../../src/base/errors.ts';
import { bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { shownPath } from './shown-path.ts';
import { NotAllowedHere } from './torture-site.ts';
import type { TortureSite } from './torture-site.ts';
import { makeContents, makeManyEntries, makeSparseFiles } from './torture-contents.ts';
import { makeLinks, makeSpecialFiles } from './torture-links.ts';
import { makeAcls, makeModes, makeOwners, makeTimes, makeXattrs } from './torture-metadata.ts';
import { makeDeepPaths, makeNames, makePathsBeyondLimit } from './torture-names.ts';

export interface TortureEntry {
  /** Below the tree's root. */
  readonly path: ByteString;
  readonly what: string;
}

/** Something the platform, the file system or missing privileges did not allow. */
export interface TortureRefusal extends TortureEntry {
  readonly reason: string;
}

export interface TortureReport {
  readonly root: string;
  /** What there is to be kept: single entries, or one line for a group of like ones. */
  readonly made: readonly TortureEntry[];
  readonly refused: readonly TortureRefusal[];
}

export const tortureSections = [
  'contents',
  'sparse',
  'links',
  'special',
  'names',
  'deep',
  'beyond-path-max',
  'modes',
  'owners',
  'xattrs',
  'acls',
  'times',
  'many',
] as const;

export type TortureSection = (typeof tortureSections)[number];

/** What fills the directory of each section. */
const makers: Readonly<Record<TortureSection, (site: TortureSite) => void>> = {
  contents: makeContents,
  sparse: makeSparseFiles,
  links: makeLinks,
  special: makeSpecialFiles,
  names: makeNames,
  deep: makeDeepPaths,
  'beyond-path-max': makePathsBeyondLimit,
  modes: makeModes,
  owners: makeOwners,
  xattrs: makeXattrs,
  acls: makeAcls,
  times: makeTimes,
  many: makeManyEntries,
};

export interface TortureOptions {
  /** Sections to leave out. Tools that build full paths fail on `beyond-path-max`. */
  readonly without?: readonly TortureSection[];
}

/** Fills `dir` (absent or empty). The same bytes, names and times come out every time. */
export function makeTortureTree(dir: string, options: TortureOptions = {}): Promise<TortureReport> {
  return Promise.resolve().then(() => fillTree(path.resolve(dir), options));
}

function fillTree(root: string, options: TortureOptions): TortureReport {
  if (existsSync(root) && readdirSync(root).length > 0) throw new Error(`${root} is not empty`);
  mkdirSync(root, { recursive: true });
  const made: TortureEntry[] = [];
  const refused: TortureRefusal[] = [];
  for (const section of tortureSections) {
    if (options.without?.includes(section) === true) continue;
    const directory = joinBytes(treePath(root), bytesOfText(section));
    mkdirSync(fsPath(directory));
    makers[section]({
      directory,
      make: (name, what, action) => {
        const entry: TortureEntry = { path: joinBytes(bytesOfText(section), name), what };
        try {
          action(joinBytes(directory, name));
        } catch (error) {
          refused.push({ ...entry, reason: refusalReason(error) });
          return false;
        }
        made.push(entry);
        return true;
      },
    });
  }
  return { root, made, refused };
}

/** The reason behind a refusal; throws again what is none. */
function refusalReason(error: unknown): string {
  if (error instanceof NotAllowedHere) return error.message;
  const code = errnoOf(error);
  if (!(error instanceof Error) || code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
  return code;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { without: { type: 'string', multiple: true, default: [] }, json: { type: 'boolean' } },
  });
  const [dir] = positionals;
  const without = tortureSections.filter((section) => values.without.includes(section));
  if (dir === undefined || positionals.length > 1 || without.length < values.without.length) {
    process.stderr.write(
      `usage: torture-tree.ts DIR [--without SECTION]… [--json]\nsections: ${tortureSections.join(' ')}\n`,
    );
    process.exitCode = 2;
    return;
  }
  const report = await makeTortureTree(dir, { without });
  if (values.json === true) {
    process.stdout.write(`${JSON.stringify(report, undefined, 1)}\n`);
    return;
  }
  const lines = [
    ...report.made.map((entry) => `made     ${shownPath(entry.path)}: ${entry.what}`),
    ...report.refused.map((entry) => `refused  ${shownPath(entry.path)}: ${entry.what} (${entry.reason})`),
    `${report.made.length} made, ${report.refused.length} refused, below ${report.root}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

if (import.meta.main) await main();
