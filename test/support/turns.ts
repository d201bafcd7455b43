/**
 * Test files that take turns. A file that takes more than some two seconds says which of eight turns it belongs to.
 * `npm test` runs the files of one turn, which the commit chooses, and all files without a turn. Eight changes together
 * therefore try about as much as one run of everything. A run that names files or tests has all of them.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';

const TURNS = 8;

/** 1 to 8; `all`: nothing is left out. */
export type Turn = number | 'all';

const MARK = /^\/\/ Turn (\d) of 8\.$/m;

export function takesTurns(content: string): boolean {
  return MARK.test(content);
}

/** Whether a test file with that content has to wait for another change. */
export function rests(content: string, turn: Turn): boolean {
  const its = MARK.exec(content)?.[1];
  return turn !== 'all' && its !== undefined && Number(its) !== turn;
}

/** For a table of cases in a file that always runs: whether that one has its turn in this run. */
export function hasTurn(at: number): boolean {
  const turn = turnOfName(process.env['HOLDFAST_TURN'] ?? 'all');
  return turn === 'all' || at % TURNS === turn - 1;
}

/**
 * The turn of this run.
 * @param words those of the command line, with the options
 * @param wish `all`, or 1 to 8
 * @throws {Error} when there is no such turn
 */
export function turnOf(words: readonly string[], wish: string | undefined, directory: string): Turn {
  if (wish !== undefined) return turnOfName(wish);
  return isChoice(words) ? 'all' : turnOfChange(changeOf(directory));
}

function turnOfName(name: string): Turn {
  if (name === 'all') return 'all';
  if (!/^[1-8]$/.test(name)) throw new Error(`HOLDFAST_TURN is "${name}": it is all, or 1 to ${TURNS}`);
  return Number(name);
}

/** Files, or names of tests. */
function isChoice(words: readonly string[]): boolean {
  return words.some(
    (word, at) =>
      word === '-t' ||
      word.startsWith('--testNamePattern') ||
      (!word.startsWith('-') && word !== 'run' && words[at - 1] !== '--config'),
  );
}

export function turnOfChange(change: string): number {
  return 1 + (createHash('sha256').update(change).digest().readUInt32BE(0) % TURNS);
}

/** The commit; where there is no history, the day. */
function changeOf(directory: string): string {
  const { stdout, status } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: directory, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : new Date().toISOString().slice(0, 10);
}
