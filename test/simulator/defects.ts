/** Plants one defect after the other in a copy of the project, and says after how many seeds the simulator finds it. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runSeeds } from './runner.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export interface DefectRequest {
  /** How many seeds are tried for each. */
  readonly most: number;
  readonly from: number;
  readonly only: string;
  readonly processes: number;
  readonly folder: 'simulator' | 'attacker';
}

/** The exit code: 0 when all were found. */
export async function findDefects({ most, from, only, processes, folder }: DefectRequest): Promise<number> {
  const defects = join(ROOT, 'test', folder, 'defects');
  const patches = readdirSync(defects).filter((name) => name.endsWith('.patch') && name.includes(only));
  let missed = 0;
  for (const patch of patches.sort()) {
    const root = copyWith(join(defects, patch));
    try {
      const request = {
        from,
        below: from + most,
        replay: false,
        shrinks: false,
        untilFirst: true,
        processes,
        folder,
      };
      const { violations, seconds } = await runSeeds({ ...request, root });
      const [first] = violations;
      if (first === undefined) missed += 1;
      const found =
        first === undefined ? `not found in ${most} seeds` : `found at seed ${first.seed}: ${first.promise}`;
      console.log(`${basename(patch, '.patch')}: ${found} (${seconds.toFixed(0)} s)`);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  console.log(`${patches.length - missed} of ${patches.length} planted defects were found`);
  return missed === 0 ? 0 : 1;
}

/** A copy of what the simulator runs, with the patch. */
function copyWith(patch: string): string {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-defect-'));
  for (const name of ['src', 'package.json', 'test/simulator', 'test/attacker', 'test/support'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const header = readFileSync(patch, 'utf8');
  if (!header.startsWith('Promise: ')) throw new Error(`${patch} does not say which promise it breaks`);
  const applied = spawnSync('git', ['apply', patch], { cwd: root, encoding: 'utf8' });
  if (applied.status !== 0) throw new Error(`${patch} does not apply: ${applied.stderr}`);
  return root;
}
