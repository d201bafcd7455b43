/** The documents that packages bring along. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './facts.ts';

const FOLDERS = [
  { folder: '', kind: /\.(?:md|jsonc?)$/ },
  { folder: 'reliability', kind: /\.md$/ },
  { folder: 'recover', kind: /^(?:README\.md|recover\.py)$/ },
  { folder: 'metrics', kind: /\.(?:ya?ml|json)$/ },
];

/** Place below a folder for documents -> content. */
export function documents(): ReadonlyMap<string, Uint8Array> {
  const names = FOLDERS.flatMap(({ folder, kind }) =>
    readdirSync(path.join(ROOT, 'docs', folder))
      .filter((name) => kind.test(name) && name !== 'LICENSE.md')
      .map((name) => path.join('docs', folder, name)),
  );
  return new Map(
    ['README.md', 'config.example.json', ...names.sort()].map((name) => [
      name,
      readFileSync(path.join(ROOT, name)),
    ]),
  );
}

export function licenseText(): string {
  return readFileSync(path.join(ROOT, 'docs', 'LICENSE.md'), 'utf8');
}
