/** The thread of `size-scan.ts`: walks the sources by the rules of the backup and adds up sizes. */
import { parentPort, workerData } from 'node:worker_threads';
import { createExcluder, type DirectoryScope } from '../../exclude/excluder.ts';
import { takeHungMounts } from '../source/hung-mounts.ts';
import { readRuleFile } from './rule-files.ts';
import { kindOf, openDirectory, statPath } from '../source/stat.ts';
import { joinBytes, type ByteString } from '../../base/byte-path.ts';
import { errnoOf } from '../../base/errors.ts';
import type { ScanSetup } from './size-scan.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

interface OpenDirectory {
  readonly path: ByteString;
  readonly parent: DirectoryScope | undefined;
}

const totals = { files: 0, bytes: 0 };
const { sources, exclude, hung, stop } = workerData as ScanSetup;
takeHungMounts(hung);
const stopped = new Int32Array(stop);
const named = new Set(sources);
for (const source of named) scanSource(source);
const port = parentPort;
port?.postMessage(totals);

function scanSource(root: ByteString): void {
  const stat = orNothing(() => statPath(root));
  if (stat === undefined) return;
  const kind = plainKind(stat);
  const files = { read: readRuleFile, onError: () => {} };
  const excluder = createExcluder(exclude, { root, kind, device: Number(stat.dev) }, files);
  if (excluder.rootDecision.excluded) return;
  if (kind === 'file') add(stat);
  const open: OpenDirectory[] = kind === 'directory' ? [{ path: root, parent: undefined }] : [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Atomics.load(stopped, 0) === 1) return;
    const { path, parent } = next;
    orNothing(() => {
      const listed = openDirectory(path);
      try {
        const scope = excluder.enterDirectory(parent, path, listed.names);
        for (const name of listed.names) {
          // A source inside this one is counted separately, by its own rules.
          if (named.size > 1 && named.has(joinBytes(path, name))) continue;
          const entry = orNothing(() => listed.stat(name));
          if (entry === undefined) continue;
          const entryKind = plainKind(entry);
          const decision = scope.decide(name, entryKind, entry.size, Number(entry.dev));
          if (decision.excluded) continue;
          if (entryKind === 'file') add(entry);
          else if (entryKind === 'directory' && decision.descend)
            open.push({ path: joinBytes(path, name), parent: scope });
        }
      } finally {
        listed.close();
      }
    });
  }
}

function add({ size }: EntryStat): void {
  totals.files += 1;
  totals.bytes += size;
}

function plainKind(stat: EntryStat): 'file' | 'directory' | 'other' {
  const kind = kindOf(stat);
  return kind === 'file' || kind === 'directory' ? kind : 'other';
}

/** Undefined on a system error: the backup meets the same one and reports it. */
function orNothing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
