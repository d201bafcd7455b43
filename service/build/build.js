/** `npm run build`: from src/ to dist/, by whichever Node.js runs Holdfast. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNewEnough, privateRuntime } from '../bin/runtime.js';
import { markBuilt } from './fresh.js';

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** @throws {Error} when nothing is installed, or when a step fails; it has said why */
export async function build() {
  if (!existsSync(path.join(ROOT, 'node_modules'))) throw new Error('no packages are installed');
  const begun = new Date();
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  await Promise.all([
    run('service/build/program.js').then(async () => await run('service/build/validators.js')),
    run('node_modules/vite/bin/vite.js', 'build', '--config', 'service/page/vite.config.ts'),
    run('service/build/api-documents.js'),
    run('service/build/client-types.js'),
  ]);
  markBuilt(ROOT, begun);
}

async function run(program, ...words) {
  const node = isNewEnough(process.versions.node) ? process.execPath : privateRuntime(ROOT);
  const child = spawn(node ?? process.execPath, [path.join(ROOT, program), ...words], {
    cwd: ROOT,
    // What is printed on stdout is for the command that is built for.
    stdio: ['ignore', 2, 2],
  });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build().catch((error) => {
    process.stderr.write(`The build failed: ${error.message}. To install what is missing, run: npm ci\n`);
    process.exitCode = 1;
  });
}
