/** The Debian package on a Debian that boots in QEMU, with its own kernel, disks and systemd: see `USAGE`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { removeTree } from '../support/remove-tree.ts';
import { Bench, type Packages, type Part, type Settings } from './bench.ts';
import { requirePrograms } from './host.ts';
import { debianImage } from './image.ts';
import { KeptFigures, type PartRecord } from './kept-figures.ts';
import { PARTS } from './parts.ts';
import { booted, installed, type Frozen } from './stages.ts';

const USAGE = `usage: npm run test:system -- [options] [part …]
  --list         the parts, and how long each may take
  --cuts N       power cuts on each file system (default: as many as the figures in docs/reliability/system-test.md)
  --on NAMES     power cuts on these file systems alone, as in xfs,btrfs
  --seed N       another choice of moments (default: by the clock)
  --scratch DIR  where the disks of the machines go (default: the system's)
  --deb FILE     the package to try (default: that of this tree)
  --json FILE    where all figures and checks go
  --leave        keep the disks afterwards
`;

const root = path.resolve(import.meta.dirname, '..', '..');

interface Result {
  readonly part: string;
  readonly seconds: number;
  readonly failure: string;
  readonly bench: Bench;
}

async function runPart(part: Part, bench: Bench): Promise<Result> {
  const beganMs = performance.now();
  const expired = Promise.withResolvers<never>();
  const patience = setTimeout(
    () => expired.reject(new Error(`not over after ${part.minutes} minutes`)),
    part.minutes * 60_000,
  );
  let failure = '';
  try {
    await Promise.race([part.run(bench), expired.promise]);
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
    bench.say(`FAILED ${failure}`);
  } finally {
    clearTimeout(patience);
    await bench.endAll();
  }
  return { part: part.name, seconds: Math.round((performance.now() - beganMs) / 1000), failure, bench };
}

function chosenParts(names: readonly string[]): readonly Part[] {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}; see --list`);
  return names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name));
}

/** The package as `npm run package:deb` makes it, but packed faster. */
function debian(directory: string, version: readonly string[]): string {
  const build = path.join(root, 'service', 'deb', 'build.ts');
  const words = [build, '--compression', 'gzip', '--output', directory, ...version];
  // The same bytes for the same program: what was frozen with it is used again.
  const env = { ...process.env, SOURCE_DATE_EPOCH: '1767225600' };
  const made = execFileSync(process.execPath, ['--no-warnings', ...words], { encoding: 'utf8', env });
  return made.trim();
}

function packages(scratch: string, current: string | undefined): Packages {
  let next: string | undefined;
  return {
    current: current ?? debian(path.join(scratch, 'current'), []),
    next: () => (next ??= debian(path.join(scratch, 'next'), ['--version', '0.1.1'])),
  };
}

function isWell({ failure, bench }: Result): boolean {
  return failure === '' && bench.checks.every(({ ok }) => ok);
}

function recordOf(result: Result): PartRecord {
  const { part, seconds, bench } = result;
  const day = new Date().toISOString().slice(0, 10);
  return { part, day, passed: isWell(result), seconds, checks: bench.checks.length, figures: bench.figures };
}

function tell(results: readonly Result[]): string {
  const lines = results.flatMap((result) => {
    const { part, seconds, failure, bench } = result;
    const wrong = bench.checks.filter(({ ok }) => !ok);
    return [
      `${isWell(result) ? 'passed' : 'FAILED'}  ${part}: ${bench.checks.length - wrong.length} of ${bench.checks.length} checks, ${seconds} s`,
      ...Object.entries(bench.figures).map(([name, value]) => `        ${name}: ${value}`),
      ...wrong.map(({ what, detail }) => `        NOT ${what}: ${detail.slice(0, 300)}`),
      ...(failure === '' ? [] : [`        ${failure.slice(0, 600)}`]),
    ];
  });
  const passed = results.filter(isWell).length;
  return `${lines.join('\n')}\n\n${passed} passed, ${results.length - passed} failed\n`;
}

async function main(words: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      cuts: { type: 'string' },
      on: { type: 'string' },
      seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000_000)) },
      scratch: { type: 'string', default: tmpdir() },
      deb: { type: 'string' },
      json: { type: 'string' },
      leave: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  // Seconds since the start.
  const say = (line: string): void =>
    print(`${String(Math.round(performance.now() / 1000)).padStart(5)} ${line}`);
  if (values.help) return void process.stdout.write(USAGE);
  const parts = chosenParts(positionals);
  if (values.list)
    return parts.forEach(({ name, minutes, purpose }) =>
      print(`${name.padEnd(12)} ${String(minutes).padStart(3)} min  ${purpose}`),
    );
  mkdirSync(values.scratch, { recursive: true });
  const scratch = mkdtempSync(path.join(values.scratch, 'holdfast-system-'));
  const cuts = values.cuts === undefined ? undefined : Number(values.cuts);
  const seed = Number(values.seed);
  say(`seed ${seed}, in ${scratch}`);
  await requirePrograms();
  const image = await debianImage(say);
  const bare = await booted(image, say);
  const made = packages(scratch, values.deb);
  const kept = new KeptFigures(made.current);
  const fileSystems = values.on?.split(',');
  const settings: Settings = { seed, cuts, fileSystems, scratch, kept, say };
  let ready: Promise<Frozen> | undefined;
  const stages = {
    booted: bare,
    installed: async () => await (ready ??= installed(bare, made.current, say)),
  };
  const results: Result[] = [];
  for (const part of parts) {
    const result = await runPart(part, new Bench(part.name, settings, made, stages));
    results.push(result);
    kept.addPart(recordOf(result));
  }
  print(`\n${tell(results)}\n${kept.tell()}\n`);
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      `${JSON.stringify({ seed: settings.seed, image: { boot_ms: bare.facts['bootMs'], debian: readFileSync('/etc/debian_version', 'utf8').trim() }, parts: results.map(({ part, seconds, failure, bench: { checks, figures } }) => ({ part, seconds, failure, figures, checks })) }, undefined, 1)}\n`,
    );
  const allWell = results.every(isWell);
  if (!values.leave && allWell) removeTree(scratch);
  else print(`left in ${scratch}`);
  process.exitCode = allWell ? 0 : 1;
}

await main(process.argv.slice(2));
