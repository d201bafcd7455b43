/** docs/development.md names every script of package.json and what exists, and no document names another script. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { namesBelow } from '../support/names-below.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

it('explains each script of the project once', () => {
  const rows = [...read('docs/development.md').matchAll(/^\| `([\w:]+)` \| (.*?) \|/gm)];
  expect(new Set(rows.map(([, name]) => name))).toEqual(new Set(Object.keys(scripts)));
  expect(rows).toHaveLength(Object.keys(scripts).length);
  for (const [, , explanation = ''] of rows) expect(explanation.length).toBeGreaterThan(10);
});

it('is of all scripts that documents name', () => {
  const docs = namesBelow(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const texts = ['README.md', ...docs.map((name) => join('docs', name))].map(read);
  const named = texts.flatMap((text) => [...text.matchAll(/npm run ([a-z][\w:]*)/g)]);
  expect(named.length).toBeGreaterThan(20);
  for (const [, name = ''] of named) expect(Object.keys(scripts)).toContain(name);
});

it('names files and folders that are there, and settings that are neighbours', () => {
  const guide = read('docs/development.md');
  const paths = [...guide.matchAll(/`((?:src|test|docs|service)\/[\w./-]+)`/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const [, neighbours = ''] = /\*\*A setting\.\*\*(.*?)\n\n/s.exec(guide) ?? [];
  const names = [...neighbours.matchAll(/`(?:git grep -n )?([a-z]+[A-Z]\w*)`/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(2);
  for (const name of names) expect(read('src/config/schema.ts')).toMatch(new RegExp(`\\b${name}: `));
});

it('runs what is written in TypeScript, and vitest, by the Node.js that runs Holdfast', () => {
  const others = Object.entries(scripts).filter(([, words]) => /\.ts\b|vitest/.test(words));
  expect(others.length).toBeGreaterThan(10);
  for (const [name, words] of others)
    expect([name, words]).toEqual([name, expect.stringMatching(/^node (test|service\/build)\/run\.js /)]);
});
