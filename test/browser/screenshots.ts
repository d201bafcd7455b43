/**
 * Pictures of every page, in docs/ui:
 *
 *     npm run screenshots [-- NAME…]
 *
 * The built agent and Partner service run in a place of their own (`unshare`): there the home is /home/ana, a second disk is
 * /media/ana/Backup, and the ports are those that everybody has. It takes root, or a system that lets users have namespaces.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenPage } from '../support/chromium.ts';
import { type Demonstration, openDemonstration } from '../support/demonstration.ts';
import { demonstrationHome } from '../support/demonstration-home.ts';
import { FIRST_SCENES, type Scene, SCENES, settled, TROUBLED_SCENES } from '../support/page-scenes.ts';
import { openPageSite } from '../support/page-site.ts';

const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'ui');
const HOME = '/home/ana';
const DISK = '/media/ana/Backup';
const DAYS_AGO = [21, 14, 9, 6, 4, 2, 1];
const SETUP = {
  home: HOME,
  port: 7_390,
  env: { HOLDFAST_STATE_DIR: join(HOME, '.local', 'state', 'holdfast'), HOLDFAST_TEST_KDF: undefined },
} as const;

const VIEWS = [
  { view: 'light', width: 1_200, height: 850, dark: false },
  { view: 'dark', width: 1_200, height: 850, dark: true },
  { view: 'narrow', width: 390, height: 844, dark: false },
] as const;

const wanted = process.argv.slice(2);

if (process.env['HOLDFAST_PICTURES'] === 'inside') await takeAll();
else process.exitCode = enter();

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
  const itself = [process.execPath, ...process.execArgv, import.meta.filename, ...wanted];
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
  await settled(shown);
  if (wanted.length > 0 && !wanted.includes(scene.name)) return;
  const path = join(PICTURES, `${scene.name}.${view}.png`);
  // No room is kept for scrollbars, which pictures do not have.
  await shown.page.evaluate(() => document.documentElement.style.setProperty('scrollbar-gutter', 'auto'));
  // A dialog is as high as the window, and so is what lies behind it.
  const fullPage = (await shown.page.locator('dialog[open]').count()) === 0;
  await shown.page.screenshot({ path, fullPage, animations: 'disabled', caret: 'hide' });
  process.stdout.write(`${scene.name}.${view}.png\n`);
}
