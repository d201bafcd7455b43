/** Sources of the settings that no backup stores: told when the settings are read, refused when they are added, and never a good backup. */
// Turn 2 of 8.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPlace } from '../support/cli.ts';
import { openDaemonSite } from '../support/daemon-site.ts';

describe.runIf(process.platform !== 'win32')('a pipe or a device as a source', () => {
  test('of the settings is logged, and its backup fails', async () => {
    await using site = await openDaemonSite();
    const pipe = join(site.source, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const sources = [pipe, '/dev/null'].map((path) => ({ path, schedule: 'off', watch: false }));
    await site.configure({ sources });
    for (const { path } of sources) {
      expect(site.log.join('\n')).toMatch(new RegExp(`${path} is a (pipe|device), neither a file nor a dir`));
      const made = site.jobs('backup').find(({ spec }) => spec.type === 'backup' && spec.source === path);
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
