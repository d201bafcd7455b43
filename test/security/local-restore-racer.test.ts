/**
 * Somebody who may write to the target swaps directories for links to elsewhere while files are restored into them. Line
 * L16 of the security checklist: with `HOLDFAST_LONG=1` as often as it says.
 */
// Turn 7 of 8.
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SILENT_RESTORE, type OverwriteMode } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  type HandMadeNode,
} from '../support/hand-made-snapshot.ts';
import { wholeRestore } from '../support/whole-restore.ts';

const never = new AbortController().signal;
const LONG = process.env['HOLDFAST_LONG'] === '1';
/** Many small restores meet the racer at more moments than a few large ones. */
const [RESTORES, DIRECTORIES, FILES] = LONG ? [5_000, 3, 10] : [4, 20, 100];
const HOUR = 3_600_000;

let site: string;
let target: string;
let outside: string;

beforeEach(() => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-racer-'));
  [target, outside] = [join(site, 'target'), join(site, 'outside')];
  mkdirSync(target);
  mkdirSync(outside);
  for (let i = 0; i < FILES; i += 5) writeFileSync(join(outside, `file${i}`), 'precious');
});
afterEach(() => {
  rmSync(site, { recursive: true, force: true });
});

/** Swaps every directory of the target for a link and back, as fast as it can; prints how often it did. */
const racer = `
  import { renameSync, symlinkSync, unlinkSync } from 'node:fs';
  const [target, outside, directories] = process.argv.slice(1);
  process.stdout.write('0\\n');
  let swaps = 0;
  let told = 0;
  for (;;) {
    for (let i = 0; i < Number(directories); i += 1) {
      const path = target + '/dir' + i;
      try {
        renameSync(path, path + '.aside');
      } catch { continue; }
      try {
        symlinkSync(outside, path);
        swaps += 1;
        unlinkSync(path);
      } catch {}
      try {
        renameSync(path + '.aside', path);
      } catch {}
    }
    // seldom, so that it never waits for its reader
    if (swaps < told + 100) continue;
    told = swaps;
    process.stdout.write(swaps + '\\n');
  }
`;

function fingerprint(): string[] {
  const own = lstatSync(outside, { bigint: true });
  return [
    `${own.mode} ${own.mtimeNs}`,
    ...readdirSync(outside).map((name) => {
      const { size, mode, mtimeNs, ctimeNs, ino } = lstatSync(join(outside, name), { bigint: true });
      return `${name} ${size} ${mode} ${mtimeNs} ${ctimeNs} ${ino}`;
    }),
  ];
}

/** A process that was told to stop still does what it has begun. */
async function standsStill(pid: number | undefined): Promise<void> {
  while (!/^\d+ \(.*\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await delay(1);
}

test.each(['always', 'never'] as const)(
  `L16: with overwrite %s nothing ever lands behind the link, in ${RESTORES} restores`,
  { timeout: LONG ? 3 * HOUR : 120_000 },
  async (overwrite: OverwriteMode) => {
    const repository = await memoryRepository(never);
    const entries: Record<string, HandMadeNode> = {};
    for (let i = 0; i < DIRECTORIES; i += 1) {
      const files: Record<string, HandMadeNode> = {};
      for (let k = 0; k < FILES; k += 1) files[`file${k}`] = file(`content ${i} ${k}`);
      // a file of several segments is written by several threads, each opening it again
      files['large'] = file([Buffer.alloc(300_000, `a${i}`), Buffer.alloc(300_000, `b${i}`)]);
      entries[`dir${i}`] = directory(files);
    }
    const snapshot = await handMadeSnapshot(repository, directory(entries), {}, never);
    const before = fingerprint();

    const args = ['--input-type=module', '--eval', racer, target, outside, String(DIRECTORIES)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let swaps = 0;
    let hits = 0;
    const lines = createInterface(child.stdout);
    lines.on('line', (line) => {
      swaps = Number(line);
    });
    await new Promise((resolve) => {
      lines.once('line', resolve);
    });
    try {
      for (let round = 0; round < RESTORES; round += 1) {
        const summary = await restore(
          wholeRestore(repository, snapshot, target, {
            overwrite,
            deleteExtra: round % 3 === 2,
            restoreOwnership: false,
            workers: 2,
          }),
          SILENT_RESTORE,
          never,
        );
        hits += summary.errors.length;
        expect(fingerprint()).toEqual(before);
        if (round % 2 === 0) continue;
        child.kill('SIGSTOP');
        await standsStill(child.pid);
        rmSync(target, { recursive: true });
        mkdirSync(target);
        child.kill('SIGCONT');
      }
    } finally {
      child.kill('SIGKILL');
    }
    // the racer was at work, and the restore noticed
    expect(swaps).toBeGreaterThan(500);
    expect(hits).toBeGreaterThan(0);
    await repository.close();
  },
);
