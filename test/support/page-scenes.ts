/** Everything that the page shows, one scene after the other: what is looked at by rules of accessibility, and in pictures. */
import { join } from 'node:path';
import type { OpenPage, Page } from './chromium.ts';
import type { Demonstration } from './demonstration.ts';
import type { PageSite } from './page-site.ts';

export interface Scene<Subject> {
  readonly name: string;
  /** Goes there, from wherever the window is. */
  readonly show: (shown: OpenPage, subject: Subject) => Promise<void>;
}

const SETTINGS = [
  'overview',
  'schedule',
  'encryption',
  'performance',
  'notifications',
  'access',
  'account',
  'advanced',
] as const;

/** Of an agent that nobody has told anything; the last one starts the first backup. */
export const FIRST_SCENES: readonly Scene<PageSite>[] = [
  { name: 'first-run-what', show: async (shown, site) => await site.visit(shown, '/start') },
  {
    name: 'first-run-folder',
    async show({ page }) {
      await page.locator('.with-total button').click();
      await page.locator('.chooser-list button').first().waitFor();
    },
  },
  {
    name: 'first-run-where',
    async show({ page }) {
      await page.keyboard.press('Escape');
      await page.locator('.offered input:not(:disabled)').first().check();
      await next(page);
    },
  },
  {
    name: 'first-run-elsewhere',
    async show({ page }) {
      await page.locator('input[name=place]').first().check();
      await page.locator('.destination-form').waitFor();
    },
  },
  {
    name: 'first-run-kit',
    async show({ page }) {
      await page.locator('input[name=place]').last().check();
      await next(page);
    },
  },
  {
    name: 'first-run-backup',
    async show({ page }) {
      await page.locator('main .actions button.main-action').waitFor();
      await page.locator('main input[type=checkbox]').check();
      await next(page);
    },
  },
  {
    name: 'first-run-done',
    async show({ page }) {
      await next(page);
      await page.locator('main a[href="#/restore"]').waitFor({ timeout: 60_000 });
    },
  },
];

/** Of an agent that all is well with. */
export const SCENES: readonly Scene<Demonstration>[] = [
  { name: 'overview', show: async (shown, { site }) => await site.visit(shown, '/') },
  ...restoreScenes(),
  { name: 'jobs', show: async (shown, { site }) => await site.visit(shown, '/jobs') },
  ...(['backup', 'restore', 'check', 'prune', 'drill'] as const).map((kind) => ({
    name: `job-${kind}`,
    show: async (shown: OpenPage, { site, jobs }: Demonstration) =>
      await site.visit(shown, `/jobs/${jobs[kind]}`),
  })),
  {
    name: 'jobs-pause',
    async show(shown, { site }) {
      await site.visit(shown, '/jobs');
      await shown.page.locator('main .head-actions button, main .page-head button').last().click();
      await shown.page.locator('dialog').waitFor();
    },
  },
  ...SETTINGS.map((name) => ({
    name: `settings-${name}`,
    show: async (shown: OpenPage, { site }: Demonstration) => await site.visit(shown, `/settings/${name}`),
  })),
  {
    name: 'settings-sources',
    async show(shown, { site }) {
      await site.visit(shown, '/settings/sources');
      await shown.page.locator('button[aria-controls^=source-]').first().click();
    },
  },
  {
    name: 'settings-destinations',
    async show(shown, { site }) {
      await site.visit(shown, '/settings/destinations');
      await shown.page.locator('main .actions > button.main-action').last().click();
      await shown.page.locator('input[name=destination-name]').waitFor();
    },
  },
  {
    name: 'settings-new-key',
    async show(shown, { site }) {
      await site.visit(shown, '/settings/access');
      await shown.page.locator('input[name=credential-name]').fill('dashboard');
      await shown.page.locator('form button.main-action').click();
      await shown.page.locator('.new-secret').waitFor();
    },
  },
  { name: 'no-such-page', show: async (shown, { site }) => await site.visit(shown, '/nowhere') },
];

function restoreScenes(): readonly Scene<Demonstration>[] {
  const at = async (
    shown: OpenPage,
    { site }: Demonstration,
    query: Record<string, string>,
  ): Promise<void> => {
    await site.visit(shown, `/restore?${new URLSearchParams(query)}`);
  };
  const documents = ({ home }: Demonstration): string => home.sources[0] ?? '';
  return [
    {
      name: 'restore-folder',
      async show(shown, demonstration) {
        const source = documents(demonstration);
        await at(shown, demonstration, { source, path: source });
        await shown.page.getByRole('gridcell').first().waitFor();
      },
    },
    {
      name: 'restore-earlier',
      async show({ page }) {
        await page.getByRole('slider').focus();
        await page.keyboard.press('Home');
        await page.locator('.virtual .tag').first().waitFor();
      },
    },
    {
      name: 'restore-text',
      async show(shown, demonstration) {
        const { letter } = demonstration.home;
        await at(shown, demonstration, {
          source: documents(demonstration),
          path: join(letter, '..'),
          file: letter,
        });
        await shown.page.locator('dialog').getByText('Lindenweg').waitFor();
      },
    },
    {
      name: 'restore-picture',
      async show(shown, demonstration) {
        const { picture, sources } = demonstration.home;
        await at(shown, demonstration, {
          source: sources[1] ?? '',
          path: join(picture, '..'),
          file: picture,
        });
        await shown.page.locator('dialog img').waitFor();
      },
    },
    {
      name: 'restore-whole-picture',
      async show({ page }) {
        await page.locator('dialog [aria-pressed]').click();
        await page.locator('.whole-dialog img').waitFor();
      },
    },
    {
      name: 'restore-versions',
      async show(shown, { site, home }) {
        const query = new URLSearchParams({ path: home.letter, source: home.sources[0] ?? '' });
        await site.visit(shown, `/restore/versions?${query}`);
        await shown.page.getByText('within two weeks').first().waitFor();
      },
    },
    {
      name: 'restore-search',
      async show(shown, demonstration) {
        await at(shown, demonstration, { q: 'budget' });
        await shown.page.getByText('Budget 2026.csv').first().waitFor();
      },
    },
    {
      name: 'restore-what',
      async show(shown, demonstration) {
        const source = documents(demonstration);
        await at(shown, demonstration, { source, path: source });
        await shown.page.getByRole('gridcell').getByRole('checkbox').nth(1).check();
        await shown.page.getByRole('gridcell').getByRole('checkbox').nth(3).check();
        await shown.page.locator('.chosen-bar .main-action').click();
        await shown.page.locator('dialog .steps').waitFor();
      },
    },
    {
      name: 'restore-where',
      async show({ page }) {
        await nextIn(page);
        // Everything that is there is replaced.
        await page.locator('dialog input[type=radio]').last().check();
      },
    },
    {
      name: 'restore-check',
      async show({ page }) {
        await nextIn(page);
        await page.locator('dialog .actions .main-action:not(:disabled)').waitFor();
      },
    },
    {
      name: 'restore-report',
      show: async (shown, { site, jobs }) => await site.visit(shown, `/restore/${jobs.restore}`),
    },
  ];
}

/** Of one that something is wrong with; `failed` is the job that says so. */
export const TROUBLED_SCENES: readonly Scene<Demonstration & { readonly failed: string }>[] = [
  { name: 'overview-troubled', show: async (shown, { site }) => await site.visit(shown, '/') },
  { name: 'alarms', show: async (shown, { site }) => await site.visit(shown, '/alarms') },
  { name: 'job-failed', show: async (shown, { site, failed }) => await site.visit(shown, `/jobs/${failed}`) },
  { name: 'jobs-failed', show: async (shown, { site }) => await site.visit(shown, '/jobs?status=failed') },
];

async function next(page: Page): Promise<void> {
  await page.locator('main .actions button.main-action').first().click();
}

async function nextIn(page: Page): Promise<void> {
  await page.locator('dialog .actions .main-action').click();
}

const UNDER_WAY = [
  'Loading…',
  'counting…',
  'waiting to be counted',
  'Wird geladen …',
  'wird gezählt …',
  'wird gleich gezählt',
];

/** Waits until nothing is under way. */
export async function settled({ page }: OpenPage): Promise<void> {
  await page.waitForFunction(
    (words) =>
      document.querySelector('h1') !== null && !words.some((word) => document.body.innerText.includes(word)),
    UNDER_WAY,
  );
  await page.waitForTimeout(200);
}
