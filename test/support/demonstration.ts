/** An agent that has looked after a home for weeks, to two places, with a job of each kind; and what may go wrong with it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { OpenPage } from './chromium.ts';
import { demonstrationHome, type DemonstrationHome } from './demonstration-home.ts';
import { openPageSite, type PageSite, type PageSiteSetup } from './page-site.ts';

const CLOCK = new URL('moved-clock.ts', import.meta.url).href;

export interface DemonstrationSetup extends PageSiteSetup {
  /** When there were backups, oldest first. */
  readonly daysAgo: readonly number[];
  /** Where the second place for backups is; below the home when left out. */
  readonly disk?: string;
}

export interface Demonstration extends AsyncDisposable {
  readonly site: PageSite;
  readonly home: DemonstrationHome;
  /** A job of each kind that has completed. */
  readonly jobs: Readonly<Record<'backup' | 'restore' | 'check' | 'prune' | 'drill', string>>;
  /** Most files of one source are lost, and a card is not in the machine: alarms, and a job that failed. Gives its id. */
  harm(): Promise<string>;
}

export async function openDemonstration(setup: DemonstrationSetup): Promise<Demonstration> {
  const [first = 0] = setup.daysAgo;
  let home: DemonstrationHome | undefined;
  let card = '';
  const site = await openPageSite(
    async ({ directory, state }) => {
      home = demonstrationHome(directory);
      home.live(first);
      card = join(directory, 'Camera card');
      mkdirSync(card);
      writeFileSync(join(card, 'IMG_2041.raw'), Buffer.alloc(300_000, 'raw'));
      mkdirSync(setup.env?.['HOLDFAST_STATE_DIR'] ?? state, { recursive: true, mode: 0o700 });
      const config = join(setup.env?.['HOLDFAST_STATE_DIR'] ?? state, 'config.json');
      const settings = settingsText(wayOf(home, card), setup.disk ?? join(directory, 'disk'));
      writeFileSync(config, settings, { mode: 0o600 });
    },
    // With the usual cost of a passphrase: the thread of a catalog takes no other one.
    { ...setup, env: { HOLDFAST_TEST_KDF: undefined, ...setup.env, ...daysAgoIs(first) } },
  );
  try {
    const lived = home ?? expect.fail('there is no home');
    for (const days of setup.daysAgo) {
      if (days !== first) {
        lived.live(days);
        await site.restart(daysAgoIs(days));
      }
      await backUp(site, wayOf(lived, card));
    }
    await site.restart(daysAgoIs(0));
    lived.live(0);
    const jobs = await runEach(site, lived, card);
    return {
      site,
      home: lived,
      jobs,
      harm: async () => await harm(site, lived, card),
      [Symbol.asyncDispose]: async () => await site[Symbol.asyncDispose](),
    };
  } catch (error) {
    await site[Symbol.asyncDispose]();
    throw error;
  }
}

function daysAgoIs(days: number): Readonly<Record<string, string>> {
  // Not always at the same time of day.
  const part = ((days * 3) % 5) / 10;
  return { NODE_OPTIONS: `--import=${CLOCK}`, MOVED_CLOCK_DAYS: String(days + part) };
}

/** Which source goes where. */
type Ways = readonly (readonly [source: string, destinations: readonly string[]])[];

function wayOf({ sources }: DemonstrationHome, card: string): Ways {
  const [documents = '', pictures = '', projects = ''] = sources;
  return [
    [documents, ['default', 'disk']],
    [pictures, ['disk']],
    [projects, ['default', 'disk']],
    [card, ['disk']],
  ];
}

function settingsText(ways: Ways, disk: string): string {
  const settings = {
    sources: ways.map(([path, destinations]) => ({ path, destinations, schedule: 'weekly', watch: false })),
    destinations: { disk: { url: disk } },
  };
  return `// Ana's backups\n${JSON.stringify(settings, null, 2)}\n`;
}

/** Gives the id of the first job. */
async function backUp(site: PageSite, ways: Ways): Promise<string> {
  const ids: string[] = [];
  for (const [source, destinations] of ways) {
    for (const destination of destinations)
      ids.push(finished((await site.api('POST', '/backup', { source, destination })).data));
  }
  return ids[0] ?? '';
}

function finished(data: Readonly<Record<string, unknown>>, status = 'completed'): string {
  expect(data['status'], JSON.stringify(data)).toBe(status);
  return String(data['id']);
}

async function runEach(
  site: PageSite,
  home: DemonstrationHome,
  card: string,
): Promise<Demonstration['jobs']> {
  const [documents = ''] = home.sources;
  const backup = await backUp(site, wayOf(home, card));
  const run = async (path: string, body: object): Promise<string> =>
    finished((await site.api('POST', path, body)).data);
  const restore = await run('/restore', {
    source: documents,
    paths: [join(documents, 'Letters'), join(documents, 'Budget 2026.csv')],
    target: join(site.place.directory, 'Restored'),
  });
  const check = await run('/check', { destination: 'default', read_data: 1 });
  const prune = await run('/prune', { destination: 'default', apply_retention: true });
  const shown = await site.signedIn();
  const drill = finished(await askAsPage(shown, site, '/drill', { destination: 'default' }));
  await askAsPage(shown, site, '/recovery-kit/confirm');
  await shown.context.close();
  return { backup, restore, check, prune, drill };
}

/** What the page alone may ask. */
async function askAsPage(
  { page }: OpenPage,
  site: PageSite,
  path: string,
  data?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const reply = await page.request.post(`${site.origin}/internal/v1${path}`, {
    headers: { origin: site.origin, prefer: 'wait=60' },
    ...(data === undefined ? {} : { data }),
  });
  expect(reply.ok(), await reply.text()).toBe(true);
  return ((await reply.json()) as { readonly data: Readonly<Record<string, unknown>> }).data;
}

async function harm(site: PageSite, home: DemonstrationHome, card: string): Promise<string> {
  home.loseDrawings();
  await backUp(site, [[home.sources.at(-1) ?? '', ['default']]]);
  rmSync(join(card, 'IMG_2041.raw'));
  const { data } = await site.api('POST', '/backup', { source: card, destination: 'disk' });
  return finished(data, 'failed');
}
