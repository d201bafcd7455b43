// What the service manager of Windows starts: node.exe service.js STATE. It has no console and no user's environment, so
// the places are in its command line, and a variable tells the agent whom to report to.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const launcher = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'bin', 'holdfast.js');
const [, , state] = process.argv;
if (state === undefined) {
  process.stderr.write('The state directory is missing. Services are made by: holdfast service install\n');
  process.exitCode = 2;
} else {
  process.env.HOLDFAST_STATE_DIR = state;
  process.env.HOLDFAST_WINDOWS_SERVICE = 'Holdfast';
  process.argv.splice(1, process.argv.length, launcher, 'start', '--quiet');
  await import('../bin/holdfast.js');
}
