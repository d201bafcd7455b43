/**
 * Both interfaces by the documents that the running programs give out of themselves, with requests that schemathesis makes up:
 * `npm run test:schemathesis -- [--document desktop,partner] [--phases coverage,fuzzing] [--max-examples 20] [--seed 7]
 * [--minutes 10] [--kept DIR]`. Ends with 1 when something is found that excused.ts does not know.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { canContain, contained } from './contained.ts';
import { schemathesis } from './python.ts';
import { PHASES } from './trial.ts';

const { values } = parseArgs({
  options: {
    document: { type: 'string', default: 'desktop,partner' },
    phases: { type: 'string', default: PHASES.join(',') },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    'max-examples': { type: 'string', default: '20' },
    /** For each document. */
    minutes: { type: 'string', default: '10' },
    /** Where settings, logs and everything that was sent and answered stay. */
    kept: { type: 'string' },
  },
});

if (!canContain()) {
  process.stdout.write(
    'This needs Linux, and namespaces (unshare): else what is tried could harm this machine.\n',
  );
  process.exit(1);
}
const { python, program } = await schemathesis();
const kept = values.kept === undefined ? undefined : resolve(values.kept);
if (kept !== undefined) mkdirSync(kept, { recursive: true });
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-schemathesis-')));
const words = Object.entries({ ...values, kept, schemathesis: program })
  .filter(([, value]) => value !== undefined)
  .map(([name, value]) => `--${name}=${value}`);
process.stdout.write(`seed ${values.seed}\n`);
try {
  const [unshare, ...rest] = contained({ directory, kept, python }, [
    process.execPath,
    '--no-warnings',
    join(import.meta.dirname, 'inside.ts'),
    ...words,
  ]);
  const child = spawn(unshare, rest, { stdio: 'inherit', env: environment() });
  // All that runs inside ends with it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGKILL'));
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** What programs write for themselves goes where it can. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOLDFAST_ZSTD } = process.env;
  return {
    PATH,
    ...(HOLDFAST_ZSTD === undefined ? {} : { HOLDFAST_ZSTD }),
    LANG: 'C.UTF-8',
    HOME: directory,
    TMPDIR: directory,
    XDG_CACHE_HOME: join(directory, 'cache'),
    NODE_COMPILE_CACHE: join(directory, 'code'),
  };
}
