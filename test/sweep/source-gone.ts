/**
 * A source that is suddenly gone, empty or nearly so, under the real agent: no empty snapshot is made unseen, what was
 * saved restores, and retention leaves it alone until a person has answered.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Job, JobSpec } from '../../src/jobs/job.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** Fewer may come and go as they like. */
const FILES = 120;
const DIRECTORIES = 6;

/** At each prune every snapshot but the newest is forgotten. */
const SETTINGS = {
  retention: { keepLast: 1, keepDaily: null, keepWeekly: null, keepMonthly: null, keepWithin: null },
  maintenance: { prune: 'off', check: 'off', drill: 'off' },
};

interface Loss {
  /** What the agent tells of it; an empty source is not backed up. */
  readonly alarm: 'empty' | 'shrunk';
  /** Strikes a source that has just been moved to `away`. */
  strike(source: string, away: string): void;
}

const directories = (away: string): readonly string[] =>
  readdirSync(away, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const LOSSES = {
  'is gone': { alarm: 'empty', strike: () => undefined },
  'is gone with the directory that it lay in': {
    alarm: 'empty',
    strike: (source) => rmSync(dirname(source), { recursive: true }),
  },
  'is empty': { alarm: 'empty', strike: (source) => mkdirSync(source) },
  'is a mount point without its disk': {
    alarm: 'empty',
    strike: (source) => mkdirSync(join(source, 'lost+found'), { recursive: true }),
  },
  'has its directories and no file': {
    alarm: 'empty',
    strike: (source, away) => {
      for (const name of directories(away)) mkdirSync(join(source, name), { recursive: true });
    },
  },
  'has what is no file': {
    alarm: 'empty',
    strike: (source) => {
      mkdirSync(source);
      symlinkSync('nowhere', join(source, 'link'));
      execFileSync('mkfifo', [join(source, 'fifo')]);
    },
  },
  'is a link to nowhere': {
    alarm: 'empty',
    strike: (source) => symlinkSync(`${source}-nowhere`, source),
  },
  'has lost most files': {
    alarm: 'shrunk',
    strike: (source, away) => {
      const [kept = ''] = directories(away);
      cpSync(join(away, kept), join(source, kept), { recursive: true, preserveTimestamps: true });
    },
  },
} as const satisfies Readonly<Record<string, Loss>>;
type LossName = keyof typeof LOSSES;
export const LOSS_NAMES = Object.keys(LOSSES) as readonly LossName[];

export interface SourceGoneResult {
  readonly rounds: ReadonlyMap<LossName, number>;
  /** Backups that were refused. */
  readonly refused: number;
  readonly restarts: number;
}

export async function sweepSourceGone(count: number, random: SeededRandom): Promise<SourceGoneResult> {
  await using site = await openDaemonSite();
  await site.configure(SETTINGS);
  const rounds = new Map<LossName, number>();
  const total = { refused: 0, restarts: 0 };
  for (let round = 0; round < count; round += 1) {
    const name = LOSS_NAMES[round % LOSS_NAMES.length] ?? 'is gone';
    const isRestarted = random.next() < 0.2;
    const victim = new Victim(site, join(site.source, `disk-${round}`, 'source'), random);
    await victim.backUpTwice();
    total.refused += await expectHeld(victim, name, isRestarted);
    await expectGoesOn(victim);
    rounds.set(name, (rounds.get(name) ?? 0) + 1);
    if (isRestarted) total.restarts += 1;
  }
  return { rounds, ...total };
}

/** While it is lost. Returns how many backups were refused. */
async function expectHeld(victim: Victim, name: LossName, isRestarted: boolean): Promise<number> {
  const { site, source } = victim;
  const loss: Loss = LOSSES[name];
  victim.lose(loss);
  let refused = 0;
  for (const attempt of ['first', 'second']) {
    const job = await victim.backUp();
    if (loss.alarm === 'empty') {
      expect(job, name).toMatchObject({
        status: 'failed',
        snapshot_id: null,
        error: { code: 'SOURCE_SUSPICIOUSLY_EMPTY' },
      });
      refused += 1;
    } else expect(job, name).toMatchObject({ status: 'completed' });
    if (attempt === 'first' && isRestarted) await site.restart();
  }
  expect(await site.ask('alarms', {}), name).toMatchObject([{ kind: loss.alarm, source }]);
  expect((await site.status()).status).toBe('degraded');
  const before = await victim.snapshots();
  expect(before, name).toHaveLength(loss.alarm === 'empty' ? 2 : 4);
  await victim.prune();
  expect((await victim.snapshots()).length, `${name}: retention`).toBeGreaterThanOrEqual(2);
  await victim.expectSaved();
  return refused;
}

/** Once it is back, and the alarm was answered. */
async function expectGoesOn(victim: Victim): Promise<void> {
  const { site } = victim;
  victim.bringBack();
  expect(await victim.backUp()).toMatchObject({ status: 'completed', error: null, files_done: FILES });
  await site.ask('acknowledge', {});
  expect(await site.ask('alarms', {})).toEqual([]);
  await victim.prune();
  expect(await victim.snapshots()).toHaveLength(1);
}

/** A source with two snapshots, and what is done to it. */
class Victim {
  readonly site: DaemonSite;
  readonly source: string;
  readonly #away: string;
  readonly #random: SeededRandom;
  /** Of the whole source as it last was. */
  #saved = '';

  constructor(site: DaemonSite, source: string, random: SeededRandom) {
    this.site = site;
    this.source = source;
    this.#away = `${dirname(source)}.away`;
    this.#random = random;
  }

  async backUpTwice(): Promise<void> {
    for (let n = 0; n < FILES; n += 1) {
      const directory = join(this.source, `d${n % DIRECTORIES}`);
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, `file-${n}`), this.#random.bytes(200));
    }
    expect(await this.backUp()).toMatchObject({ status: 'completed', files_done: FILES });
    writeFileSync(join(this.source, 'd0', 'file-0'), 'changed');
    const job = await this.backUp();
    expect(job).toMatchObject({ status: 'completed', files_done: FILES });
    this.#saved = job.snapshot_id ?? '';
  }

  lose(loss: Loss): void {
    renameSync(this.source, this.#away);
    loss.strike(this.source, this.#away);
  }

  bringBack(): void {
    rmSync(this.source, { recursive: true, force: true });
    mkdirSync(dirname(this.source), { recursive: true });
    renameSync(this.#away, this.source);
  }

  /** As its schedule does it: what a person asks for is refused at once where there is nothing. */
  async backUp(): Promise<Job> {
    const spec: JobSpec = {
      type: 'backup',
      source: this.source,
      destination: 'default',
      options: {
        compression: 'zstd',
        encryption: true,
        deduplication: true,
        exclude: [],
        tags: [],
        dry_run: false,
      },
    };
    return await this.site.ended((await this.site.agent.submit(spec, 'schedule')).id);
  }

  async prune(): Promise<void> {
    const { id } = await this.site.ask('prune', { destination: 'default' });
    expect(await this.site.ended(id)).toMatchObject({ status: 'completed' });
  }

  async snapshots(): Promise<readonly string[]> {
    const page = await this.site.agent.snapshots({ source: this.source, limit: 100 });
    return page.map(({ id }) => id);
  }

  /** The newest snapshot from before the loss is whole: a person can have it back. */
  async expectSaved(): Promise<void> {
    const target = `${this.#away}.restored`;
    const spec: JobSpec = {
      type: 'restore',
      destination: 'default',
      snapshot_id: this.#saved,
      paths: [],
      target,
      options: {
        overwrite: 'never',
        dry_run: false,
        verify: true,
        delete_extra: false,
        restore_ownership: process.getuid?.() === 0,
      },
    };
    const job = await this.site.ended((await this.site.agent.submit(spec, 'api')).id);
    expect(job).toMatchObject({ status: 'completed', error: null });
    const differences = compareTrees(this.#away, join(target, this.source));
    expect(differences.map(shownDifference)).toEqual([]);
    rmSync(target, { recursive: true });
  }
}
