/** Whether what is built was built from the sources that lie here. */
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** All that a build reads. A directory is newer when something was put into it or taken out. */
const SOURCES = ['src', 'service/build', 'service/page', 'docs/api', 'package-lock.json', 'tsconfig.json'];
const STAMP = path.join('dist', '.built');

/** False, too, when nothing is built, or the last build did not come to its end. */
export function isFresh(root) {
  const built = look(path.join(root, STAMP)).mtimeMs;
  return SOURCES.every((name) => newest(path.join(root, name)) < built);
}

/** @param begun when the build began: what changed meanwhile is newer than what is built */
export function markBuilt(root, begun) {
  const stamp = path.join(root, STAMP);
  writeFileSync(stamp, '');
  utimesSync(stamp, begun, begun);
}

function newest(place) {
  const { isDirectory, mtimeMs } = look(place);
  if (!isDirectory) return mtimeMs;
  const entries = readdirSync(place, { withFileTypes: true });
  return Math.max(mtimeMs, ...entries.map((entry) => newest(path.join(place, entry.name))));
}

function look(place) {
  const stat = statSync(place, { throwIfNoEntry: false });
  return { isDirectory: stat?.isDirectory() === true, mtimeMs: stat?.mtimeMs ?? 0 };
}
