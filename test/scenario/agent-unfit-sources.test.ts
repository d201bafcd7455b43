/** Sources of the settings that no backup stores: told when the settings are read, refused when they are added, and never a good backup. */
// Turn 2 of 8.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPlace } from '../support/cli.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import type { Job } from '../../src/jobs/job.ts';

/** The first backups of so many sources, which are queued a few at a time. */
async function firstBackups(site: DaemonSite, count: number): Promise<readonly Job[]> {
  return await eventually(() => {
    const jobs = site.jobs('backup');
    return jobs.length === count && jobs;
  }, `${count} first backups`);
}

describe.runIf(process.platform !== 'win32')('a pipe or a device as a source', () => {
  test('of the settings is logged, and its backup fails', async () => {
    await using site = await openDaemonSite();
    const pipe = join(site.source, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const sources = [pipe, '/dev/null'].map((path) => ({ path, schedule: 'off', watch: false }));
    await site.configure({ sources });
    for (const { path } of sources) {
      expect(site.log.join('\n')).toMatch(new RegExp(`${path} is a (pipe|device), neither a file nor a dir`));
      const begun = await firstBackups(site, sources.length);
      const made = begun.find(({ spec }) => spec.type === 'backup' && spec.source === path);
      const job = await site.ended(String(made?.id));
      expect(job).toMatchObject({
        status: 'failed',
        error: { code: 'INVALID_SOURCE', details: { path, reason: 'unsupported_type' } },
      });
    }
    const { sources: shown } = await site.agent.fullStatus();
    expect(shown.map(({ last_good_backup_at: at }) => at)).toEqual([null, null]);
  });

  test('is told by config validate, and refused by every way of adding it', async () => {
    await using place = await openPlace();
    const pipe = join(place.directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const said = `${pipe} is a pipe, neither a file nor a directory`;
    for (const words of [
      ['sources', 'add', pipe],
      ['config', 'set', 'sources[-].path', pipe],
      ['start', '--source', pipe],
      ['start', '--once', '--source', pipe],
    ]) {
      const { code, stderr } = await place.run(words);
      expect([words, stderr]).toEqual([words, expect.stringContaining(said)]);
      expect(code).not.toBe(0);
    }
    writeFileSync(join(place.state, 'config.json'), JSON.stringify({ sources: [{ path: pipe }] }), {
      mode: 0o600,
    });
    const { stdout } = await place.expectRun(['config', 'validate'], 0);
    expect(stdout).toContain(`Warning: ${said}`);
    // What is there already does not bar other changes.
    await place.expectRun(['config', 'set', 'plan', 'pro'], 0);
    const json = await place.expectRun(['config', 'validate', '--json'], 0);
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: true, warnings: [{ sources: [pipe] }] });
  });
});

test.runIf(process.platform === 'linux')(
  'a place of Holdfast and a file system of the kernel: the headline has the reason of the job',
  async () => {
    await using site = await openDaemonSite({ sameDisk: () => true });
    site.write({ 'a.txt': 'a' });
    const nas = join(site.directory, 'nas');
    mkdirSync(nas);
    const paths = [site.source, nas, '/proc'];
    await site.configure({
      destinations: { nas: { url: nas, passphrase: { file: join(site.state, 'passphrase') } } },
      defaultDestination: 'nas',
      sources: paths.map((path) => ({ path, schedule: 'off', watch: false })),
    });
    expect(site.log.join('\n')).toContain(`${nas} is the destination nas, or in it`);
    expect(site.log.join('\n')).toContain('/proc is on a file system of the kernel (proc)');
    for (const { id } of await firstBackups(site, paths.length)) await site.ended(id);
    const { statements } = await site.agent.fullStatus();
    const said = statements.map(({ code, reason, paths: of }) => [code, reason, of]);
    expect(said).toContainEqual(['never_backed_up', null, [nas, '/proc']]);
    expect(said).toContainEqual(['same_disk', null, [site.source]]);
    for (const [path, reason] of [
      [nas, 'source_own'],
      ['/proc', 'source_unfit'],
    ] as const) {
      await site.configure({
        destinations: { nas: { url: nas, passphrase: { file: join(site.state, 'passphrase') } } },
        sources: [{ path, destination: 'nas', schedule: 'off', watch: false }],
      });
      const [worst] = (await site.agent.fullStatus()).statements;
      expect(worst).toMatchObject({ code: 'never_backed_up', reason });
    }
  },
);

test.runIf(process.platform !== 'win32')(
  'one directory under two names to one destination is told, and to two destinations it is not',
  async () => {
    await using place = await openPlace();
    const at = (name: string): string => join(place.directory, name);
    mkdirSync(at('src'));
    mkdirSync(place.state, { recursive: true, mode: 0o700 });
    symlinkSync(at('src'), at('link'));
    const write = (second: string): void =>
      writeFileSync(
        join(place.state, 'config.json'),
        JSON.stringify({
          destinations: { a: { url: at('a') }, b: { url: at('b') } },
          sources: [
            { path: at('link'), destination: 'a' },
            { path: at('src'), destination: second, exclude: { patterns: ['*.log'] } },
          ],
        }),
        { mode: 0o600 },
      );
    write('a');
    const told = await place.expectRun(['config', 'validate'], 0);
    expect(told.stdout).toContain(
      `Warning: ${at('link')} and ${at('src')} are the same source, and are backed up to a twice`,
    );
    expect((await place.expectRun(['sources', 'list'], 0)).stdout).toContain('are the same source');
    write('b');
    expect((await place.expectRun(['config', 'validate'], 0)).stdout).not.toContain('Warning');
    // A repository, too, is refused when it is added.
    mkdirSync(at('a'));
    const { stderr } = await place.run(['sources', 'add', join(at('a'))]);
    expect(stderr).toContain('is the destination a, or in it');
  },
);
