/**
 * src/ without its types, file by file, as dist/. Types are checked by `npm run lint`; nothing is bundled, because threads
 * and processes are started by the paths of their files (a bundle would start a tenth faster).
 */
import { globSync, rmSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = path.join(import.meta.dirname, '..', '..');
/** The page is built by vite, and documents are made of docs/api; all else of dist/ is made here. */
const files = globSync('src/**/*.{ts,tsx}', { cwd: ROOT, exclude: ['src/ui/**'] });

const build = await rolldown({
  cwd: ROOT,
  input: Object.fromEntries(files.map((file) => [nameOf(file), file])),
  platform: 'node',
  // Packages are installed beside it.
  external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
  tsconfig: false,
  transform: { target: 'node24', jsx: { runtime: 'automatic', importSource: 'preact' } },
  treeshake: false,
});
const { output } = await build.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  preserveModules: true,
  preserveModulesRoot: 'src',
  // Else calls are left out that look as if they had no effect, as decodeURIComponent, which may fail.
  minify: false,
});
removeOthers(new Set(output.map(({ fileName }) => path.normalize(fileName))));

function nameOf(file) {
  return path
    .relative('src', file)
    .replace(/\.tsx?$/, '')
    .replaceAll(path.sep, '/');
}

/** What was built of files that are gone. */
function removeOthers(written) {
  const dist = path.join(ROOT, 'dist');
  const found = globSync('**/*.js', { cwd: dist, exclude: ['page/**', '.code/**', 'package/**'] });
  for (const name of found.filter((one) => !written.has(one))) rmSync(path.join(dist, name));
}
