/**
 * What the real agent says of everything that can go wrong: page, command line and interface agree, nothing is green where
 * the headline is not, and the operator's guide has it word for word.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { Overview } from '../../src/api/schemas/page/overview.ts';
import { statusLines } from '../../src/cli/agent/status.ts';
import { createStyles } from '../../src/cli/terminal/terminal.ts';
import type { FullStatus } from '../../src/jobs/agent.ts';
import { protectionOf } from '../../src/jobs/protection.ts';
import { sentenceOf } from '../../src/ui/pages/overview/headline.tsx';
import { openPage } from '../support/daemon-page.ts';
import { openSituationSite, type SituationSite } from '../support/headline-site.ts';
import { SITUATIONS } from '../support/headline-situations.ts';
import { hasTurn } from '../support/turns.ts';
import { dropCapabilities } from '../support/unprivileged-children.ts';

const GUIDE = join(import.meta.dirname, '../../docs/operators-guide.md');
const TITLE = '## What the headline says\n';
/** With it the guide is written anew in place of being compared. */
const REWRITES = process.env['HOLDFAST_WRITE_GUIDE'] === '1';

const scene = vi.hoisted((): { site: SituationSite | undefined } => ({ site: undefined }));
// No limit of the system can be lowered for this process alone.
vi.mock('../../src/watch/native-watcher.ts', async (original) => {
  const real = await original<Record<'subscribeNative', (...of: unknown[]) => Promise<unknown>>>();
  return {
    ...real,
    subscribeNative: async (...of: unknown[]) => {
      if (scene.site?.watchLimit === true) throw new Error('No space left on device');
      return await real.subscribeNative(...of);
    },
  };
});
dropCapabilities();

interface Reply {
  readonly data: {
    readonly status: string;
    readonly headline: {
      readonly code: string;
      readonly level: string;
      readonly more: number;
      readonly sentence?: string;
    };
    readonly checks: FullStatus['checks'];
  };
}

const HEAD = '| when | | it says | code |';
const RULE = '|---|---|---|---|';
const told = new Map<string, string>();

/** Ages and places differ from run to run. */
function steady(text: string, { directory }: SituationSite): string {
  return text
    .replaceAll(directory, '…')
    .replaceAll(/\b(\d+m)\d+s\b/g, '$1')
    .replaceAll(/\b\d+(?:\.\d+)?(?:ms|s)\b/g, 'moments');
}

describe('the agent says, and so do all who ask it', () => {
  test.each(SITUATIONS.filter((_, at) => hasTurn(at)))('$name', async ({ name, arrange, needs }) => {
    await using site = await openSituationSite();
    scene.site = site;
    if (needs === 'mount' && process.getuid?.() !== 0) return;
    await arrange(site);
    const status = await site.ask('status', {});
    const now = site.clock.now();
    const { level, sentence, headline } = protectionOf(status, now);
    const [first = ''] = statusLines(status, now, createStyles(false));
    const page = await openPage(site.daemon);
    const overview = (await page.ask<Overview>('GET', '/overview', Overview)).data;
    const anonymous = (await site.get<Reply>('/v1/status')).data;
    const open = await site.status();

    // One truth.
    expect(first.startsWith(sentence)).toBe(true);
    const { code, more } = headline;
    expect(overview.headline).toMatchObject({ code, level, more, paths: headline.paths });
    expect(overview.others).toHaveLength(more);
    expect(anonymous.headline).toMatchObject({ code, level, more });
    expect(open.headline).toMatchObject({ code, level, more });
    expect(open.status).toBe(status.status);
    const { text } = sentenceOf(overview.headline, overview.checks, now);
    expect(text.split('{}')).toHaveLength(sentenceOf(overview.headline, overview.checks).own.length + 1);

    // Nothing green where the headline is not, and nothing red where it is good.
    if (level !== 'good') expect(['ok']).not.toContain(open.status);
    else expect(open.status).toBe('ok');
    if (code !== 'no_source') expect(open.status === 'error').toBe(level === 'bad');
    const worst = new Set(status.checks.map((check) => check.status));
    if (level === 'good') expect([...worst]).not.toContain('warning');
    if (level !== 'bad') expect([...worst]).not.toContain('error');
    // Anybody on the machine may read them.
    for (const { message } of open.checks) expect(message).not.toContain(site.directory);

    told.set(
      name,
      `| ${name} | ${level} | ${steady(sentence, site)} | \`${code}\`${more > 0 ? `, ${more} more` : ''} |`,
    );
  });
});

describe('docs/operators-guide.md', () => {
  test('has it word for word', () => {
    const guide = readFileSync(GUIDE, 'utf8');
    const [, section = ''] = guide.split(TITLE);
    const [found = ''] = /\| when \|[^]*?(?=\n\n)/.exec(section) ?? [];
    const rows = SITUATIONS.map(({ name }) => told.get(name));
    if (REWRITES && !rows.includes(undefined)) {
      const table = [HEAD, RULE, ...rows].join('\n');
      writeFileSync(
        GUIDE,
        guide.replace(found, () => table),
      );
      return;
    }
    const [head, rule, ...written] = found.split('\n');
    expect([head, rule]).toEqual([HEAD, RULE]);
    // Of those that were not tried now, the names at least.
    const expected = SITUATIONS.map(
      ({ name }, at) =>
        told.get(name) ?? (written[at]?.startsWith(`| ${name} |`) === true ? written[at] : name),
    );
    expect(written).toEqual(expected);
  });
});

afterAll(() => {
  scene.site = undefined;
});
