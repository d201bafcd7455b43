/** Plants the defects one after the other and reports which of them the tests catch. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readDefects, type Defect } from './defect.ts';
import { choiceOf, judge, type Verdict } from './judge.ts';
import { makeScratchCopy, type ScratchCopy } from './scratch-copy.ts';
import { plantedPage } from './table.ts';
import { runTests } from './vitest-run.ts';

const usage = `usage: npm run test:planted -- [options] [NAME…]
  NAME         number of a patch, or part of its name; all patches without one
  --list       names the patches and the promises that they break
  --page       prints docs/reliability/planted-defects.md
  --json FILE  where the verdicts go as JSON
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

process.exitCode = Math.max(await main(), Number(process.exitCode ?? 0));

async function main(): Promise<number> {
  const all = readDefects();
  const defects = all.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => isMeant(name, part)),
  );
  if (values.help || defects.length === 0) {
    process.stderr.write(usage);
    return 2;
  }
  if (values.page) {
    process.stdout.write(plantedPage(all));
    return 0;
  }
  if (values.list) {
    for (const { name, promise } of defects) process.stdout.write(`${name}\n    ${promise}\n`);
    return 0;
  }
  using copy = makeScratchCopy();
  process.once('SIGINT', () => {
    copy[Symbol.dispose]();
    process.exit(130);
  });
  return await plantAll(await withSoundTests(defects, copy), copy);
}

function isMeant(name: string, part: string): boolean {
  return /^\d+$/.test(part) ? Number.parseInt(name, 10) === Number(part) : name.includes(part);
}

/** Runs the named tests without a defect: one that fails anyway could catch nothing. */
async function withSoundTests(defects: readonly Defect[], copy: ScratchCopy): Promise<readonly Defect[]> {
  const named = defects.flatMap(({ caughtBy }) => caughtBy);
  if (named.length === 0) return defects;
  const { tests, broken } = await runTests(copy.directory, choiceOf(named));
  const passed = new Set(tests.filter(({ status }) => status === 'passed').map(keyOf));
  const unsound = [...new Set(named.map(keyOf))].filter((key) => !passed.has(key));
  for (const key of unsound) process.stdout.write(`fails without a defect, or is not there: ${key}\n`);
  for (const what of broken) process.stdout.write(`cannot be run: ${what}\n`);
  if (unsound.length > 0) process.exitCode = 1;
  return defects.map((defect) => ({
    ...defect,
    caughtBy: defect.caughtBy.filter((test) => passed.has(keyOf(test))),
  }));
}

function keyOf({ file, title }: { readonly file: string; readonly title: string }): string {
  return `${file} > ${title}`;
}

async function plantAll(defects: readonly Defect[], copy: ScratchCopy): Promise<number> {
  const verdicts: { readonly name: string; readonly seconds: number; readonly verdict: Verdict }[] = [];
  for (const defect of defects) {
    const beganMs = performance.now();
    const verdict = await judge(defect, copy);
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    verdicts.push({ name: defect.name, seconds, verdict });
    process.stdout.write(`${textOf(verdict)} ${defect.name} (${seconds} s)\n${detailOf(verdict)}`);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(verdicts, undefined, 2)}\n`);
  }
  const caught = verdicts.filter(({ verdict }) => verdict.kind === 'caught');
  process.stdout.write(`${caught.length} of ${verdicts.length} planted defects are caught\n`);
  const isAsNamed = caught.every(({ verdict }) => verdict.kind === 'caught' && verdict.isNamed);
  if (!isAsNamed) process.stdout.write('Some by other tests than their patches name: amend their headers.\n');
  return caught.length === verdicts.length && isAsNamed ? 0 : 1;
}

function textOf({ kind }: Verdict): string {
  return kind.padEnd(8);
}

function detailOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'caught': {
      const { by, isNamed } = verdict;
      return `         ${isNamed ? '' : 'not named: '}${keyOf(by)}\n         ${by.message}\n`;
    }
    case 'missed':
      return verdict.crashes.map((what) => `         crash: ${what}\n`).join('');
    case 'unusable':
      return `         ${verdict.reason}\n`;
  }
}
