/** Holdfast on Windows, that is Node for Windows under Wine: `npm run test:windows -- [--scenario | --installed | --suites] [words]`. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openWindows, requireInstallerTools, requireRecover, type Windows } from './environment.ts';
import type { StepResult } from './steps.ts';
import {
  judgeSuites,
  leftOut,
  readNotHeld,
  suiteFolders,
  type NotHeld,
  type SuiteCounts,
  type SuiteReport,
} from './suites.ts';

const { values, positionals } = parseArgs({
  options: { scenario: { type: 'boolean' }, installed: { type: 'boolean' }, suites: { type: 'boolean' } },
  allowPositionals: true,
});
const all = values.scenario !== true && values.installed !== true && values.suites !== true;
const root = path.resolve(import.meta.dirname, '..', '..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const scratch = mkdtempSync(path.join(tmpdir(), 'holdfast-windows-'));
const ACCESS = { HOLDFAST_PASSWORD: 'open sesame', HOLDFAST_TEST_KDF: '64,1,1' };

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
  sayResults('the scenario', windows);
  if (positionals.length > 0) return;
  await requireRecover();
  restoreHere(windows);
}

function sayResults(what: string, { drives }: Windows): void {
  const file = path.join(drives.d, 'log', 'results.json');
  const results = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly StepResult[]) : [];
  if (results.length === 0) failed(what, 'it did not run');
  for (const { name, ms, fault } of results)
    if (fault === undefined) say(`ok     ${name} (${Math.round(ms / 1000)} s)`);
    else failed(name, fault);
}

/** Where the installer puts the program, as Linux sees it. */
const INSTALLED = 'Program Files/Holdfast';

/** Installs the program by its installer, uses it, and removes it. */
async function installed(windows: Windows): Promise<void> {
  const { c, d } = windows.drives;
  await requireInstallerTools();
  for (const directory of [path.join(c, 'installed'), path.join(c, INSTALLED), d])
    rmSync(directory, { recursive: true, force: true });
  mkdirSync(path.join(d, 'log'), { recursive: true });
  execFileSync(
    process.execPath,
    ['--no-warnings', path.join(root, 'service/msi/build.ts'), '--output', scratch],
    {
      env: { ...process.env, SOURCE_DATE_EPOCH: '1700000000' },
      stdio: ['ignore', 2, 2],
    },
  );
  const [file = ''] = readdirSync(scratch).filter((name) => name.endsWith('.msi'));
  cpSync(path.join(scratch, file), path.join(d, 'holdfast.msi'));
  // Wine gives a service 10 seconds to report, Windows 30.
  const control = String.raw`HKLM\System\CurrentControlSet\Control`;
  windows.run(
    ['reg', 'add', control, '/v', 'ServicesPipeTimeout', '/t', 'REG_DWORD', '/d', '60000', '/f'],
    2,
  );
  const start = Date.now();
  const code = windows.run(['msiexec', '/i', String.raw`D:\holdfast.msi`, '/qn'], 10);
  if (code !== 0 || !existsSync(path.join(c, INSTALLED))) {
    failed('the installer', `it ended with ${code}`);
    return;
  }
  say(`ok     the installer of ${megabytes(path.join(d, 'holdfast.msi'))} MB (${seconds(start)} s)`);
  const node = path.win32.join('C:\\', ...INSTALLED.split('/'), 'bin', 'node.exe');
  windows.run([node, '--no-warnings', 'test/windows/installed.ts', ...positionals], 60);
  sayResults('the installed program', windows);
  const removal = Date.now();
  windows.run(['msiexec', '/x', String.raw`D:\holdfast.msi`, '/qn'], 10);
  if (existsSync(path.join(c, INSTALLED, 'holdfast.cmd')))
    failed('the removal', 'the program is still there');
  else if (!existsSync(path.join(c, 'installed', 'repository')))
    failed('the removal', 'the backups are gone');
  else say(`ok     the removal, which leaves settings and backups (${seconds(removal)} s)`);
}

const seconds = (since: number): number => Math.round((Date.now() - since) / 1000);
const megabytes = (file: string): string => (statSync(file).size / 1e6).toFixed(1);

/** Every test of the suites but those that cannot hold on Windows or under Wine. */
function suites(windows: Windows): void {
  const notHeld = readNotHeld();
  const total = { passed: 0, skipped: 0, notHeld: 0, leftOut: 0 };
  for (const folder of suiteFolders(path.join(root, 'test'))) {
    if (positionals.length > 0 && !positionals.some((word) => folder.includes(word))) continue;
    const without = leftOut(notHeld, folder);
    const counts = runSuite(windows, folder, without, notHeld);
    if (counts === undefined) {
      failed(folder, 'vitest did not end by itself');
      continue;
    }
    for (const fault of counts.faults) failed(folder, fault);
    total.passed += counts.passed;
    total.skipped += counts.skipped;
    total.notHeld += counts.notHeld;
    total.leftOut += without.length;
    say(`${counts.faults.length === 0 ? 'ok    ' : 'FAILED'} ${folder}: ${counts.passed} passed`);
  }
  for (const [reason, files] of Object.entries(notHeld)) say(`${Object.keys(files).length} files: ${reason}`);
  say(
    `${total.passed} passed, ${total.notHeld} named as not held, ${total.skipped} skipped by themselves, ${total.leftOut} files not started`,
  );
}

function runSuite(
  windows: Windows,
  folder: string,
  without: readonly string[],
  notHeld: NotHeld,
): SuiteCounts | undefined {
  const report = path.join(windows.drives.d, 'suite.json');
  rmSync(report, { force: true });
  const limits = ['--testTimeout=60000', '--hookTimeout=60000'];
  const output = ['--reporter=json', String.raw`--outputFile=D:\suite.json`];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
  windows.node(
    [...vitest, `${folder}/`, ...output, ...limits, ...without.map((file) => `--exclude=${file}`)],
    60,
    { HOLDFAST_TEST_KDF: ACCESS.HOLDFAST_TEST_KDF, HOLDFAST_TURN: 'all' },
  );
  if (!existsSync(report)) return undefined;
  return judgeSuites(JSON.parse(readFileSync(report, 'utf8')) as SuiteReport, notHeld, folder);
}

try {
  execFileSync('git', ['--version'], { stdio: 'ignore' });
  const windows = await openWindows(say);
  if (all || values.scenario === true) await scenario(windows);
  if (all || values.installed === true) await installed(windows);
  if (all || values.suites === true) suites(windows);
  say(failures === 0 ? 'all is well' : `${failures} failed`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (failures > 0) process.exitCode = 1;
