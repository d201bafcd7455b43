/**
 * `npm start`: builds what is not built or older than its sources, then runs `holdfast start` in this process. With
 * `--help` alone it is `holdfast --help`, since it stands for every command.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.js';
import { isFresh } from './fresh.js';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

if (await isBuilt()) {
  const isForHelp = ['--help', '-h', '--version'].includes(process.argv[2] ?? '');
  const command = isForHelp ? [] : ['start'];
  process.argv.splice(1, 1, path.join(root, 'service', 'bin', 'holdfast.js'), ...command);
  await import('../bin/holdfast.js');
}

async function isBuilt() {
  try {
    if (!isFresh(root)) await build();
    return true;
  } catch (error) {
    process.stderr.write(
      `Holdfast could not be built: ${error.message}. To install what is missing, run: npm ci\n`,
    );
    process.exitCode = 1;
    return false;
  }
}
