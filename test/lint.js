/** `npm run lint`: rules, layout and types, by the programs of test/package.json. `--types` and `--format` do only that. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const tools = path.join(here, 'node_modules');

const RULES = ['oxlint/bin/oxlint', '--deny-warnings'];
const LAYOUT = ['oxfmt/bin/oxfmt', '--check', '.'];
/** What was found good is noted beside the packages, so that the next run looks at what has changed since. */
const TYPES = ['test/tsconfig.json', 'src/ui/tsconfig.json'].map((config) => [
  'typescript/bin/tsc',
  ...['-p', config, '--incremental', '--tsBuildInfoFile'],
  path.join(tools, '.types', config.replaceAll('/', '-')),
]);
const FORMAT = ['oxfmt/bin/oxfmt', '.'];

const { argv } = process;
const steps = argv.includes('--format')
  ? [FORMAT]
  : argv.includes('--types')
    ? TYPES
    : [RULES, LAYOUT, ...TYPES];
// Each, so that one run tells everything.
const failed = steps.filter((step) => !passes(step));
if (failed.length > 0) process.exitCode = 1;
if (failed.includes(LAYOUT)) process.stderr.write('The layout is put right by: npm run format\n');

function passes([program, ...words]) {
  const { status, error } = spawnSync(process.execPath, [path.join(tools, program), ...words], {
    cwd: path.join(here, '..'),
    stdio: 'inherit',
    // The rules that know types are a program of their own.
    env: { ...process.env, PATH: `${path.join(tools, '.bin')}${path.delimiter}${process.env.PATH ?? ''}` },
  });
  if (error !== undefined) process.stderr.write(`${program}: ${error.message}\n`);
  return status === 0;
}
