/** What a machine has of its own: its configuration changed, its database brought to the present schema. */
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { MIGRATIONS } from '../../src/db/migrate.ts';
import { openAgentState } from '../../src/jobs/open-state.ts';
import { prepareAgent, startAgent } from './agent-program.ts';
import { copyAside } from './corpus.ts';
import { succeed, type Place } from './program.ts';
import type { StepSite, StepTrial } from './step-site.ts';
import { succeedAgain } from './warm-program.ts';
import type { Workspace } from './workspace.ts';

export async function stateTrials(site: StepSite): Promise<readonly StepTrial[]> {
  return [...(await configurationTrials(site)), ...(await migrationTrials(site))];
}

/** @param store where nothing lies yet */
const changes = (store: string): readonly (readonly string[])[] => [
  ['config', 'set', 'retention.keepDaily', '14'],
  ['sources', 'add', '/usr/share/doc'],
  ['destinations', 'add', 'nas', store, '--default'],
];

/** The file has what it had before, or the whole change. */
async function configurationTrials({ workspace, source }: StepSite): Promise<readonly StepTrial[]> {
  const base = workspace.place('configured');
  const textAt = ({ state }: Place): string => readFileSync(join(state, 'config.json'), 'utf8');
  await succeed(base, ['sources', 'add', source]);
  const old = textAt(base);
  const trials: StepTrial[] = [];
  for (const words of changes(join(workspace.directory, 'nas'))) {
    const changed = copyOfState(workspace, base, 'changed');
    await succeed(changed, words);
    const now = textAt(changed);
    expect(now).not.toBe(old);
    trials.push({
      name: words.slice(0, 2).join(' '),
      place: () => copyOfState(workspace, base, 'victim'),
      words: () => words,
      judge: async (place) => {
        expect([old, now]).toContain(textAt(place));
        await succeedAgain(place, ['config', 'validate']);
        if (textAt(place) === old) await succeedAgain(place, words);
        expect(textAt(place)).toBe(now);
      },
    });
  }
  return trials;
}

/** What the state of these trials had before, in no journal: only a migration that keeps it still has it. */
const MARK = 'sweep: kept by every migration';
/** Schemas of before: the first, and the one before the last. */
const FROM = [1, MIGRATIONS.length - 1];
/** One trial in so many ends with the program, the others with what it does when it opens its state. */
const BY_PROGRAM_EVERY = 10;

async function migrationTrials({ workspace }: StepSite): Promise<readonly StepTrial[]> {
  const { state, ...more } = workspace.place('agent');
  const agent = await prepareAgent({ ...more, state, repository: join(state, 'repository') });
  const calls = { until: `user_version = ${MIGRATIONS.length}` };
  let judged = 0;
  return FROM.map((version) => {
    const base = copyOfState(workspace, agent, `schema-${version}`);
    makeOldDatabase(databaseOf(base), version);
    return {
      name: `migration from schema ${version}`,
      place: () => copyOfState(workspace, base, 'victim'),
      words: () => ['start', '--port', '0', '--json'],
      calls,
      judge: async (place) => {
        const now = look(databaseOf(place));
        expect(now.version).toBeGreaterThanOrEqual(version);
        expect(now.isMarked).toBe(true);
        judged += 1;
        if (judged % BY_PROGRAM_EVERY === 1) {
          const { stop } = await startAgent({ ...agent, ...place });
          expect(await stop()).toBe(0);
        } else openAgentState(place.state, systemClock).close();
        expect(look(databaseOf(place))).toEqual({ version: MIGRATIONS.length, isMarked: true });
        // When the kill came between two steps there is another copy, from before the second one.
        const copies = MIGRATIONS.map((_, step) => `${databaseOf(place)}.before-${step + 1}`).filter(
          existsSync,
        );
        expect(copies).toContain(`${databaseOf(place)}.before-${version + 1}`);
        for (const copy of copies) expect(look(copy).isMarked).toBe(true);
      },
    };
  });
}

const databaseOf = ({ state }: Place): string => join(state, 'state.db');

/** As a program of that time has left it. */
function makeOldDatabase(path: string, version: number): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  const database = new Sqlite(path);
  database.pragma('journal_mode = WAL');
  for (const sql of MIGRATIONS.slice(0, version)) database.exec(sql);
  database.pragma(`user_version = ${version}`);
  database.prepare('INSERT INTO settings VALUES (?, ?)').run(MARK, 'yes');
  database.close();
  chmodSync(path, 0o600);
}

/** @throws when it is damaged */
function look(path: string): { readonly version: number; readonly isMarked: boolean } {
  const database = new Sqlite(path);
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    const marked = database.prepare('SELECT 1 FROM settings WHERE key = ?').get(MARK);
    return {
      version: Number(database.pragma('user_version', { simple: true })),
      isMarked: marked !== undefined,
    };
  } finally {
    database.close();
  }
}

/** With files of its own: a database is changed where it is. */
function copyOfState(workspace: Workspace, from: Place, name: string): Place {
  const place = workspace.place(name);
  workspace.drop(place);
  copyAside(from.state, place.state);
  const isWithin = from.repository.startsWith(from.state);
  return isWithin ? { ...place, repository: join(place.state, 'repository') } : place;
}
