/** Collects what a dry run of a restore would do to existing files: counts of everything, and the paths that matter most. */
import { resolve } from 'node:path';
import { textOfBytes, type ByteString } from '../base/byte-path.ts';
import type { PreviewItem, RestorePreview } from '../jobs/job.ts';
import type { PlannedAction, PlannedKind, RestoreSummary } from '../restorer/request/request.ts';

const MOST_ITEMS = 1_000;
/** The most characters of all paths together, as names may be very long. */
const MOST_TEXT = 500_000;

/** Files that would be lost come before files that stay. */
const MATTERS: readonly PreviewItem['what'][] = ['deleted', 'overwritten', 'kept'];

export class PreviewCollector {
  #new = 0;
  #unchanged = 0;
  #overwritten = 0;
  #kept = 0;
  readonly #paths = { overwritten: [] as ByteString[], kept: [] as ByteString[] };

  planned(path: ByteString, action: PlannedAction, kind: PlannedKind): void {
    switch (action) {
      case 'create':
        if (kind === 'file') this.#new += 1;
        return;
      case 'leave':
        if (kind === 'file') this.#unchanged += 1;
        return;
      // For a directory, here and below, something else is in its place.
      case 'update':
      case 'replace':
        this.#overwritten += 1;
        this.#note('overwritten', path);
        return;
      case 'skip':
        this.#kept += 1;
        this.#note('kept', path);
        return;
      case 'delete':
        // The summary already lists all of these.
        return;
    }
  }

  /** @param target where the root of the snapshot would be restored; null in place */
  preview({ deleted, deletedMore, bytesRestored }: RestoreSummary, target: string | null): RestorePreview {
    const filesDeleted = deleted.length + deletedMore;
    const items = chosen({ ...this.#paths, deleted: deleted.slice(0, MOST_ITEMS) }, target);
    return {
      filesNew: this.#new,
      filesOverwritten: this.#overwritten,
      filesKept: this.#kept,
      filesUnchanged: this.#unchanged,
      filesDeleted,
      bytes: bytesRestored,
      items,
      isCut: items.length < this.#overwritten + this.#kept + filesDeleted,
    };
  }

  #note(what: 'overwritten' | 'kept', path: ByteString): void {
    if (this.#paths[what].length < MOST_ITEMS) this.#paths[what].push(path);
  }
}

function chosen(
  paths: Readonly<Record<PreviewItem['what'], readonly ByteString[]>>,
  target: string | null,
): readonly PreviewItem[] {
  const root = target === null ? '/' : resolve(target);
  const base = root === '/' ? '' : root;
  const items: PreviewItem[] = [];
  let text = 0;
  for (const what of MATTERS) {
    for (const bytes of paths[what]) {
      const path = `${base}${textOfBytes(bytes)}`;
      text += path.length;
      if (items.length === MOST_ITEMS || text > MOST_TEXT) return sorted(items);
      items.push({ path, what });
    }
  }
  return sorted(items);
}

function sorted(items: readonly PreviewItem[]): readonly PreviewItem[] {
  return items.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
