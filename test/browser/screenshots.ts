/**
 * Pictures of every page, in docs/ui:
 *
 *     npm run screenshots [-- NAME…]
 *     npm run screenshots -- --language fr --into DIRECTORY [NAME…]
 *
 * The second takes those of the agent's page in another language, for a look at them; the Partner console is in English only.
 *
 * The built agent and Partner service run in a place of their own (`unshare`): there the home is /home/ana, a second disk is
 * /media/ana/Backup, and the ports are those that everybody has. It takes root, or a system that lets users have namespaces.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { OpenPage } from '../support/chromium.ts';
import { type ConsoleProgram, startConsoleProgram } from '../support/console-program.ts';
import { type Demonstration, openDemonstration } from '../support/demonstration.ts';
import { demonstrationHome } from '../support/demonstration-home.ts';
import { FIRST_SCENES, type Scene, SCENES, settled, TROUBLED_SCENES } from '../support/page-scenes.ts';
import { indexedPicture } from '../support/indexed-picture.ts';
import { openPageSite, type PageSite } from '../support/page-site.ts';
import { setup } from './chromium.ts';

const { values: options, positionals: wanted } = parseArgs({
  options: { language: { type: 'string' }, into: { type: 'string' } },
  allowPositionals: true,
});
if (options.language !== undefined && options.into === undefined)
  throw new Error('docs/ui shows the page in English: name another directory with --into');
const PICTURES = resolve(options.into ?? join(import.meta.dirname, '..', '..', 'docs', 'ui'));
const LOCALE = options.language === undefined ? {} : { locale: options.language };
const HOME = '/home/ana';
const DISK = '/media/ana/Backup';
const DAYS_AGO = [21, 9, 6, 4, 1];
const SETUP = {
  home: HOME,
  port: 7_390,
  env: { HOLDFAST_STATE_DIR: join(HOME, '.local', 'state', 'holdfast') },
} as const;

const VIEWS = [
  { view: 'light', width: 1_200, height: 850, dark: false, ...LOCALE },
  { view: 'dark', width: 1_200, height: 850, dark: true, ...LOCALE },
  { view: 'narrow', width: 390, height: 844, dark: false, ...LOCALE },
] as const;

/** Those that are kept in docs/ui; any other scene is taken when it is named. */
const SHOWN: readonly string[] = [
  'first-run-what',
  'first-run-elsewhere',
  'first-run-kit',
  'first-run-done',
  'overview',
  'restore-folder',
  'restore-earlier',
  'restore-text',
  'restore-versions',
  'restore-search',
  'restore-check',
  'restore-report',
  'jobs',
  'job-failed',
  'alarms',
  'settings-overview',
  'settings-sources',
  'settings-destinations',
  'settings-schedule',
  'settings-encryption',
  'settings-performance',
  'settings-notifications',
  'settings-access',
  'settings-account',
  'settings-advanced',
  'console-overview',
  'console-api',
  'console-customers',
  'console-customer',
  'console-usage',
  'console-webhooks',
  'console-activity',
];

if (process.env['HOLDFAST_PICTURES'] === 'inside') await takeAll();
else {
  await setup();
  process.exitCode = enter();
}

/** Runs this script again where only its own files and ports are, as a user who is not root. */
function enter(): number {
  const ready = [
    'mount -t tmpfs -o mode=755 tmpfs /home',
    'mount -t tmpfs -o mode=755 tmpfs /media',
    'ip link set lo up',
    `mkdir -p ${DISK}`,
    'exec unshare --user --map-user=1000 --map-group=1000 -- "$@"',
  ];
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const itself = [process.execPath, ...process.execArgv, import.meta.filename, ...process.argv.slice(2)];
  const { status, error } = spawnSync(
    'unshare',
    ['--mount', '--net', ...asRoot, '--', 'sh', '-ec', ready.join('\n'), 'sh', ...itself],
    { stdio: 'inherit', env: { ...process.env, HOLDFAST_PICTURES: 'inside' } },
  );
  if (error !== undefined) throw error;
  return status ?? 1;
}

async function takeAll(): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await takeFirstRun();
  mkdirSync(HOME);
  await using demonstration = await openDemonstration({ ...SETUP, daysAgo: DAYS_AGO, disk: DISK });
  await take(demonstration, SCENES);
  await take({ ...demonstration, failed: await demonstration.harm() }, TROUBLED_SCENES);
  if (options.language === undefined) await takeConsole(demonstration);
}

/** The console of a partner who looks after this machine. */
async function takeConsole({ site }: Demonstration): Promise<void> {
  await using service = await startConsoleProgram();
  const { page } = await enrollDevice(await site.browser.open(), service, site);
  const customer = new URL(page.url()).pathname.replace('/settings', '');
  await page.context().close();
  const paths = ['', '/api', '/customers', customer, '/usage', '/webhooks', '/activity'];
  const scenes = paths.map((path) => ({
    name: `console-${path === '' ? 'overview' : path === customer ? 'customer' : path.slice(1)}`,
    show: async (shown: OpenPage) => await service.visit(shown, path),
  }));
  for (const { view, ...size } of VIEWS) {
    const shown = await site.browser.open(size);
    await service.visit(shown, '/sign-in');
    await service.signIn(shown);
    for (const scene of scenes) await picture(shown, undefined, scene, view);
    await shown.context.close();
  }
}

/** Leaves the window at the page of the customer. */
async function enrollDevice(shown: OpenPage, service: ConsoleProgram, site: PageSite): Promise<OpenPage> {
  const { page } = shown;
  await service.signIn(shown);
  await service.visit(shown, '/customers/new');
  await page.getByLabel('Name').fill('Bakery Moreau');
  await page.getByRole('button', { name: 'Add the customer' }).click();
  await page.getByText('The customer was added.').waitFor();
  const customer = page.url();
  await page.getByRole('button', { name: 'Enroll a device' }).click();
  const token = /hfe_\w{36}/.exec(await page.locator('main').innerText())?.[0] ?? '';
  await site.command(['enroll', service.address, token, '--name', 'bakery-office']);
  await page.goto(customer);
  return shown;
}

/** Each view sees it from the beginning. */
async function takeFirstRun(): Promise<void> {
  for (const view of VIEWS) {
    mkdirSync(HOME);
    await using site = await openPageSite(async () => demonstrationHome(HOME).live(1), SETUP);
    const shown = await site.signedIn(view);
    for (const scene of FIRST_SCENES) await picture(shown, site, scene, view.view);
  }
}

async function take<Subject extends Demonstration>(
  subject: Subject,
  scenes: readonly Scene<Subject>[],
): Promise<void> {
  for (const view of VIEWS) {
    const shown = await subject.site.signedIn(view);
    for (const scene of scenes) await picture(shown, subject, scene, view.view);
    await shown.context.close();
  }
}

async function picture<Subject>(
  shown: OpenPage,
  subject: Subject,
  scene: Scene<Subject>,
  view: string,
): Promise<void> {
  await scene.show(shown, subject);
  // Nothing looks as if it were pointed at.
  await shown.page.mouse.move(0, 0);
  await settled(shown);
  if (!(wanted.length === 0 ? SHOWN : wanted).includes(scene.name)) return;
  const path = join(PICTURES, `${scene.name}.${view}.png`);
  // No room is kept for scrollbars, which pictures do not have.
  await shown.page.evaluate(() => document.documentElement.style.setProperty('scrollbar-gutter', 'auto'));
  // A dialog is as high as the window, and so is what lies behind it.
  const fullPage = (await shown.page.locator('dialog[open]').count()) === 0;
  const taken = await shown.page.screenshot({ fullPage, animations: 'disabled', caret: 'hide' });
  writeFileSync(path, indexedPicture(taken));
  process.stdout.write(`${scene.name}.${view}.png\n`);
}
