/** Holdfast on Windows, that is Node for Windows under Wine: `npm run test:windows -- [--scenario | --suites] [words]`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openWindows, requireRecover, type Windows } from './environment.ts';
import { NOT_TRIED, SUITES } from './suites.ts';

const { values, positionals } = parseArgs({
  options: { scenario: { type: 'boolean' }, suites: { type: 'boolean' } },
  allowPositionals: true,
});
const both = values.scenario !== true && values.suites !== true;
const root = path.resolve(import.meta.dirname, '..', '..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const scratch = mkdtempSync(path.join(tmpdir(), 'holdfast-windows-'));
const ACCESS = { HOLDFAST_PASSWORD: 'open sesame', HOLDFAST_TEST_KDF: '64,1,1' };

interface StepResult {
  readonly name: string;
  readonly ms: number;
  readonly fault?: string;
}

let failures = 0;

function failed(what: string, why: string): void {
  failures += 1;
  say(`FAILED ${what}\n${why}`);
}

/** Runs the program on this machine. */
function here(...words: readonly string[]): { readonly code: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(root, 'service/bin/holdfast.js'), ...words],
    { encoding: 'utf8', env: { ...process.env, ...ACCESS, HOLDFAST_STATE_DIR: path.join(scratch, 'state') } },
  );
  return { code: status, said: `${stdout}${stderr}` };
}

/** A repository of Linux with names that Windows cannot have, or takes for one. */
function makeLinuxRepository({ drives }: Windows): void {
  const source = path.join(scratch, 'source');
  mkdirSync(source);
  for (const [name, content] of Object.entries({
    'plain.txt': 'plain',
    CLASH: 'upper',
    clash: 'lower',
    aux: 'reserved',
    'colon:name': 'colon',
    'Größe 日本.txt': 'names',
  }))
    writeFileSync(path.join(source, name), content);
  writeFileSync(Buffer.concat([Buffer.from(`${source}/bad-`), Buffer.from([0xe9])]), 'not UTF-8');
  const repository = path.join(drives.d, 'from-linux');
  for (const words of [['init'], ['backup', source]]) {
    const { code, said } = here(...words, '-r', repository);
    if (code !== 0) failed(`Linux: ${words.join(' ')}`, said);
  }
  writeFileSync(path.join(drives.d, 'log', 'linux-source.txt'), source.slice(1));
}

/** What Windows stored is restored here, by the program and by the reader that needs nothing of it. */
function restoreHere({ drives }: Windows): void {
  const repository = path.join(scratch, 'repository');
  cpSync(path.join(drives.c, 'site', 'repository'), repository, { recursive: true });
  const letters = new Map<string, string>();
  const target = path.join(scratch, 'restored');
  const { code, said } = here('restore', 'latest', '--target', target, '-r', repository);
  if (code !== 0) failed('Linux: restore', said);
  letters.set('the program', target);
  const recovered = path.join(scratch, 'recovered');
  const recover = path.join(root, 'docs', 'recover', 'recover.py');
  const secret = path.join(scratch, 'secret');
  writeFileSync(secret, ACCESS.HOLDFAST_PASSWORD);
  const words = [
    '--secret-file',
    secret,
    '--any-cost',
    repository,
    'restore',
    'latest',
    recovered,
    '--no-owners',
  ];
  const { status, stdout, stderr } = spawnSync('/usr/bin/python3', [recover, ...words], { encoding: 'utf8' });
  if (status !== 0) failed('Linux: recover.py', `${stdout}${stderr}`);
  letters.set('recover.py', recovered);
  for (const [by, directory] of letters) {
    const file = path.join(directory, 'C', 'site', 'Data', 'Größe und Maß', 'ñandú 日本 😀.txt');
    if (!existsSync(file) || readFileSync(file, 'utf8') !== 'names') failed(`Linux: restored by ${by}`, file);
    else say(`ok     what Windows stored is restored on Linux by ${by}`);
  }
}

async function scenario(windows: Windows): Promise<void> {
  const { c, d } = windows.drives;
  rmSync(path.join(c, 'site'), { recursive: true, force: true });
  rmSync(d, { recursive: true, force: true });
  for (const directory of [path.join(c, 'site'), path.join(d, 'log')])
    mkdirSync(directory, { recursive: true });
  makeLinuxRepository(windows);
  windows.node(['test/windows/scenario.ts', ...positionals], 60);
  const file = path.join(d, 'log', 'results.json');
  const results = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly StepResult[]) : [];
  if (results.length === 0) failed('the scenario', 'it did not run');
  for (const { name, ms, fault } of results)
    if (fault === undefined) say(`ok     ${name} (${Math.round(ms / 1000)} s)`);
    else failed(name, fault);
  if (positionals.length > 0) return;
  await requireRecover();
  restoreHere(windows);
}

function suites(windows: Windows): void {
  for (const [file, why] of Object.entries(NOT_TRIED)) say(`skip   ${file}: ${why}`);
  const chosen =
    positionals.length === 0
      ? SUITES
      : SUITES.filter((file) => positionals.some((word) => file.includes(word)));
  const code = windows.node(
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...chosen],
    60,
    { HOLDFAST_TEST_KDF: ACCESS.HOLDFAST_TEST_KDF },
  );
  if (code !== 0) failed('the suites', `vitest ended with ${code}`);
}

try {
  execFileSync('git', ['--version'], { stdio: 'ignore' });
  const windows = await openWindows(say);
  if (both || values.scenario === true) await scenario(windows);
  if (both || values.suites === true) suites(windows);
  say(failures === 0 ? 'all is well' : `${failures} failed`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (failures > 0) process.exitCode = 1;
