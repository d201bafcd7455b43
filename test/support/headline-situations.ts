/** What can go wrong with backups, each provoked with the real agent. */
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Job } from '../../src/jobs/job.ts';
import { PASSPHRASE, eventually } from './daemon-site.ts';
import { openForgerAt } from './forged-snapshot.ts';
import type { SituationSite } from './headline-site.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface Situation {
  readonly name: string;
  /** Somebody who may mount file systems. */
  readonly needs?: 'mount';
  readonly arrange: (site: SituationSite) => Promise<void>;
}

const QUIET = { prune: 'off', check: 'off', drill: 'off' };

/** One source that nothing but its schedule backs up, to destinations of these names. */
function settingsOf(site: SituationSite, names: readonly string[], changes: object = {}): object {
  const [first] = names;
  return {
    sources: [
      {
        path: site.source,
        schedule: 'every 4h',
        watch: false,
        ...(first === undefined ? {} : { destinations: names }),
        ...changes,
      },
    ],
    destinations: Object.fromEntries(
      names.filter((name) => name !== 'default').map((name) => [name, { url: join(site.directory, name) }]),
    ),
    defaultDestination: first ?? null,
    maintenance: QUIET,
  };
}

async function allEnded(site: SituationSite): Promise<readonly Job[]> {
  await eventually(() => {
    const jobs = site.jobs();
    return jobs.length > 0 && jobs.every(({ finished_at: at }) => at !== null);
  }, 'the end of all jobs');
  return site.jobs();
}

/** After a first backup that is good. */
async function begin(
  site: SituationSite,
  names: readonly string[] = ['usb'],
  changes: object = {},
): Promise<void> {
  site.write({ 'a.txt': 'one', 'b.txt': 'two' });
  await site.configure(settingsOf(site, names, changes));
  await allEnded(site);
}

/** After a good backup to `usb`: backups go to these, of which the last one is new, and slow. */
async function beginAnew(site: SituationSite, ...names: readonly string[]): Promise<void> {
  site.write({ large: randomBytes(8_000_000) });
  await begin(site);
  await eventually(
    async () => (await site.agent.snapshots({ limit: 1 })).length > 0,
    'the catalog of the first backup',
  );
  const usb = { url: join(site.directory, 'usb') };
  const { destinations, ...others } = settingsOf(site, names) as { destinations: object };
  await site.configure({
    ...others,
    destinations: { usb, ...destinations },
    defaultDestination: names.at(-1),
    bandwidth: [{ from: '00:00', uploadLimit: '64 KiB' }],
  });
  await eventually(
    () => site.jobs('backup').some(({ status, spec }) => status === 'running' && spec.destination === 'nas'),
    'the backup',
  );
}

const place = (site: SituationSite, name = 'usb'): string => join(site.directory, name);

function unplug(site: SituationSite, name = 'usb'): void {
  renameSync(place(site, name), place(site, `${name} unplugged`));
}

async function backUp(site: SituationSite, destination = 'usb'): Promise<Job> {
  const { id } = await site.agent.requestBackup({ source: site.source, destination, options: {} }, 'api');
  return await site.ended(id);
}

async function ends(
  site: SituationSite,
  call: 'check' | 'drill' | 'prune',
  destination = 'usb',
): Promise<void> {
  const job =
    call === 'check'
      ? await site.ask('check', { destination, read_data: 1 })
      : call === 'drill'
        ? await site.ask('drill', { destination, files: 5 })
        : await site.ask('prune', { destination });
  await site.ended(job.id);
}

function hide(site: SituationSite, ...names: readonly string[]): void {
  for (const name of names) chmodSync(join(site.source, name), 0o000);
}

function manyFiles(site: SituationSite, count: number): void {
  site.write(
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`d${n % 10}/file-${n}.txt`, `${n}`])),
  );
}

function packs(site: SituationSite, name = 'usb'): readonly string[] {
  return readdirSync(join(place(site, name), 'packs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /[0-9a-f]{64}$/.test(path))
    .map((path) => join(place(site, name), 'packs', path));
}

/** Once the catalog has read what it needs: that it cannot is a thing by itself. */
async function damage(site: SituationSite): Promise<void> {
  const query = { snapshot: 'latest', view: 'flat', sort: 'name', limit: 9 } as const;
  await eventually(
    async () =>
      (await site.agent.snapshots({ limit: 1 })).length > 0 && (await site.agent.files(query)).items[0],
    'the files of the snapshot',
  );
  for (const path of packs(site)) {
    const bytes = readFileSync(path);
    chmodSync(path, 0o600);
    writeFileSync(path, bytes.fill(0, 0, Math.floor(bytes.length / 2)));
  }
}

export const SITUATIONS: readonly Situation[] = [
  { name: 'Nothing is chosen for backup', arrange: async () => await Promise.resolve() },
  { name: 'All is well', arrange: async (site) => await begin(site) },
  {
    name: 'The first backup runs',
    async arrange(site) {
      site.write({ large: randomBytes(8_000_000) });
      await site.configure({
        ...settingsOf(site, ['usb']),
        bandwidth: [{ from: '00:00', uploadLimit: '64 KiB' }],
      });
      await eventually(() => site.jobs('backup')[0]?.status === 'running', 'the backup');
    },
  },
  {
    name: 'The first backup to another destination runs, and earlier ones can be restored',
    arrange: async (site) => await beginAnew(site, 'nas'),
  },
  {
    name: 'The same beside the first destination',
    arrange: async (site) => await beginAnew(site, 'usb', 'nas'),
  },
  {
    name: 'A repository was moved with all its backups, and the first one to its new place waits for the end of a pause',
    async arrange(site) {
      await begin(site);
      await eventually(
        async () => (await site.agent.snapshots({ limit: 1 })).length > 0,
        'the catalog of the first backup',
      );
      await site.agent.pause(null, false);
      cpSync(place(site), place(site, 'moved'), { recursive: true });
      const moved = { usb: { url: place(site, 'moved') } };
      await site.configure({ ...settingsOf(site, ['usb']), destinations: moved });
      await eventually(() => site.jobs('backup').some(({ status }) => status === 'queued'), 'the backup');
    },
  },
  {
    name: 'The first backup failed',
    async arrange(site) {
      writeFileSync(place(site), 'a file');
      await begin(site);
    },
  },
  {
    name: 'The first backup failed, the second attempt succeeded',
    async arrange(site) {
      writeFileSync(place(site), 'a file');
      await begin(site);
      rmSync(place(site));
      await backUp(site);
    },
  },
  {
    name: 'The first backup waits for the end of a pause',
    async arrange(site) {
      await site.agent.pause(null, false);
      await site.configure(settingsOf(site, ['usb']));
    },
  },
  {
    name: 'A disk is unplugged after a recent backup',
    async arrange(site) {
      await begin(site);
      unplug(site);
      site.clock.skip(7 * MINUTE);
    },
  },
  {
    name: 'A disk was unplugged three days ago',
    async arrange(site) {
      await begin(site);
      unplug(site);
      site.clock.skip(3 * DAY);
    },
  },
  {
    name: 'A disk is unplugged before the first backup of a new source',
    async arrange(site) {
      await begin(site);
      unplug(site);
      mkdirSync(join(site.directory, 'photos'));
      writeFileSync(join(site.directory, 'photos', 'p'), 'p');
      const { sources, ...others } = settingsOf(site, ['usb']) as { readonly sources: readonly object[] };
      const photos = { path: join(site.directory, 'photos'), schedule: 'every 4h', watch: false };
      await site.configure({ ...others, sources: [...sources, photos] });
      await eventually(() => site.jobs('backup')[0]?.waiting_for, 'what it waits for');
    },
  },
  {
    name: 'The folder of a destination on the same disk was deleted',
    async arrange(site) {
      site.sameDisk = true;
      await begin(site);
      rmSync(place(site), { recursive: true });
    },
  },
  {
    name: 'The disk of a destination is full',
    needs: 'mount',
    async arrange(site) {
      site.mount(place(site), '1m');
      await begin(site);
      site.write({ large: randomBytes(3_000_000) });
      await backUp(site);
    },
  },
  {
    name: 'Another disk is at the place of the destination',
    async arrange(site) {
      await begin(site, ['usb', 'other']);
      await site.configure(settingsOf(site, ['usb']));
      unplug(site);
      cpSync(place(site, 'other'), place(site), { recursive: true });
      await backUp(site);
    },
  },
  {
    name: 'The repository was emptied',
    async arrange(site) {
      await begin(site);
      for (const name of readdirSync(place(site))) rmSync(join(place(site), name), { recursive: true });
      await backUp(site);
    },
  },
  {
    name: 'The repository was emptied, and another destination has good backups',
    async arrange(site) {
      await begin(site, ['usb', 'nas']);
      for (const name of readdirSync(place(site))) rmSync(join(place(site), name), { recursive: true });
      await backUp(site);
    },
  },
  {
    name: 'Most files of a source disappeared',
    async arrange(site) {
      manyFiles(site, 200);
      await site.configure(settingsOf(site, ['usb']));
      await allEnded(site);
      for (let n = 0; n < 9; n += 1) rmSync(join(site.source, `d${n}`), { recursive: true });
      site.write({ locked: 'x' });
      hide(site, 'locked');
      await backUp(site);
    },
  },
  {
    name: 'A source is empty',
    async arrange(site) {
      await begin(site);
      for (const name of readdirSync(site.source)) rmSync(join(site.source, name));
      await backUp(site);
    },
  },
  {
    name: 'A file in a source marks it as a cache',
    async arrange(site) {
      await begin(site);
      site.write({ 'CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55' });
      await backUp(site);
    },
  },
  {
    name: 'A new source is left out by a marker file in it',
    async arrange(site) {
      site.write({ 'CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55' });
      await begin(site);
    },
  },
  {
    name: 'Patterns leave out all there is in a source',
    async arrange(site) {
      await begin(site, ['usb'], { exclude: { patterns: ['*.txt'] } });
    },
  },
  {
    name: 'A source is gone',
    async arrange(site) {
      await begin(site);
      renameSync(site.source, join(site.directory, 'elsewhere'));
      site.clock.skip(5 * HOUR);
      await site.endOfNext('backup', site.jobs('backup').slice(-1));
    },
  },
  {
    name: 'One file cannot be read',
    async arrange(site) {
      await begin(site);
      site.write({ 'locked.txt': 'x' });
      hide(site, 'locked.txt');
      await backUp(site);
    },
  },
  {
    name: 'Many files cannot be read',
    async arrange(site) {
      await begin(site);
      const names = Array.from({ length: 12 }, (_, n) => `locked-${n}.txt`);
      site.write(Object.fromEntries(names.map((name) => [name, 'x'])));
      hide(site, ...names);
      await backUp(site);
    },
  },
  {
    name: 'A folder cannot be read',
    async arrange(site) {
      await begin(site);
      site.write({ 'closed/x': 'x' });
      hide(site, 'closed');
      await backUp(site);
      chmodSync(join(site.source, 'closed'), 0o700);
    },
  },
  {
    name: 'A file that cannot be read is accepted',
    async arrange(site) {
      await begin(site);
      site.write({ 'locked.txt': 'x' });
      hide(site, 'locked.txt');
      await backUp(site);
      await site.configure(
        settingsOf(site, ['usb'], { acceptUnreadable: [join(site.source, 'locked.txt')] }),
      );
      await backUp(site);
    },
  },
  {
    name: 'A file that cannot be read is left out',
    async arrange(site) {
      await begin(site);
      site.write({ 'locked.txt': 'x' });
      hide(site, 'locked.txt');
      await backUp(site);
      await site.configure(settingsOf(site, ['usb'], { exclude: { patterns: ['/locked.txt'] } }));
      await backUp(site);
    },
  },
  {
    name: 'A command before the backup fails, and the backup runs all the same',
    async arrange(site) {
      await begin(site);
      const hooks = { before: 'exit 3', onFailure: 'warn' } as const;
      await site.configure(settingsOf(site, ['usb'], { hooks }));
      await backUp(site);
    },
  },
  {
    name: 'The clock was set back by a day',
    async arrange(site) {
      await begin(site);
      site.clock.set(-DAY);
    },
  },
  {
    name: 'The clock was set forward by three days',
    async arrange(site) {
      await begin(site);
      await site.agent.pause(null, false);
      site.clock.set(3 * DAY);
      await site.agent.resume();
      await allEnded(site);
    },
  },
  {
    name: 'The schedule of a source is off, nothing watches it, and days have passed',
    async arrange(site) {
      await begin(site, ['usb'], { schedule: 'off' });
      site.clock.set(3 * DAY);
    },
  },
  {
    name: 'A destination was removed after a backup to it failed',
    async arrange(site) {
      writeFileSync(place(site, 'nas'), 'a file');
      await begin(site, ['usb', 'nas']);
      await site.configure(settingsOf(site, ['usb']));
      site.clock.skip(20 * MINUTE);
    },
  },
  {
    name: 'A source was removed after its backup failed',
    async arrange(site) {
      await begin(site);
      const { sources, ...others } = settingsOf(site, ['usb']) as { readonly sources: readonly object[] };
      const gone = { path: join(site.directory, 'gone'), schedule: 'every 4h', watch: false };
      await site.configure({ ...others, sources: [...sources, gone] });
      await allEnded(site);
      await site.configure({ ...others, sources });
    },
  },
  {
    name: 'A source was removed after its files disappeared',
    async arrange(site) {
      manyFiles(site, 200);
      const other = join(site.directory, 'photos');
      mkdirSync(other);
      writeFileSync(join(other, 'p'), 'p');
      const { sources, ...others } = settingsOf(site, ['usb']) as { readonly sources: readonly object[] };
      const photos = { path: other, schedule: 'every 4h', watch: false, destinations: ['usb'] };
      await site.configure({ ...others, sources: [...sources, photos] });
      await allEnded(site);
      for (let n = 0; n < 9; n += 1) rmSync(join(site.source, `d${n}`), { recursive: true });
      await backUp(site);
      await site.configure({ ...others, sources: [photos] });
    },
  },
  {
    name: 'Another destination became the default after a backup to the first one failed',
    async arrange(site) {
      writeFileSync(place(site, 'nas'), 'a file');
      site.write({ 'a.txt': 'one' });
      const source = { path: site.source, schedule: 'every 4h', watch: false };
      const destinations = { usb: { url: place(site) }, nas: { url: place(site, 'nas') } };
      const settings = { sources: [source], destinations, maintenance: QUIET };
      await site.configure({ ...settings, defaultDestination: 'nas' });
      await allEnded(site);
      await site.configure({ ...settings, defaultDestination: 'usb' });
      await eventually(() => site.jobs().some(({ status }) => status === 'completed'), 'a backup to it');
    },
  },
  {
    name: 'One of three destinations fails, the embedded one among the others',
    async arrange(site) {
      writeFileSync(place(site, 'nas'), 'a file');
      await begin(site, ['default', 'usb', 'nas']);
      rmSync(place(site, 'nas'));
      await backUp(site, 'nas');
      rmSync(place(site, 'nas'), { recursive: true });
      writeFileSync(place(site, 'nas'), 'a file');
      await backUp(site, 'nas');
    },
  },
  {
    name: 'Backups are paused',
    async arrange(site) {
      await begin(site);
      await site.agent.pause(null, false);
    },
  },
  {
    name: 'Backups are paused, and overdue',
    async arrange(site) {
      await begin(site);
      await site.agent.pause(null, false);
      site.clock.skip(3 * DAY);
    },
  },
  {
    name: 'A write-only key stored a backup in the name of a machine that another key stores for',
    async arrange(site) {
      await begin(site);
      for (const label of ['db1', 'web1'])
        await (await openForgerAt(place(site), PASSPHRASE, label)).store(site.source, 'db1');
      await ends(site, 'check');
      await eventually(async () => (await site.ask('alarms', {})).length > 0, 'the alarm');
    },
  },
  {
    name: 'A check found damage',
    async arrange(site) {
      await begin(site);
      await damage(site);
      await ends(site, 'check');
    },
  },
  {
    name: 'A restore drill failed',
    async arrange(site) {
      await begin(site);
      await damage(site);
      await ends(site, 'drill');
    },
  },
  {
    name: 'The disk of the state directory is nearly full',
    async arrange(site) {
      await begin(site);
      site.freeBytes = 20_000_000;
      site.clock.skip(2 * MINUTE);
    },
  },
  {
    name: 'The disk of the state directory is full',
    async arrange(site) {
      await begin(site);
      site.freeBytes = 0;
      site.clock.skip(2 * MINUTE);
    },
  },
  {
    name: 'The settings file has a mistake',
    async arrange(site) {
      await begin(site);
      appendFileSync(site.configFile, '{');
      await site.daemon.config.reload();
    },
  },
  {
    name: 'The destination is on the same disk as the files',
    async arrange(site) {
      site.sameDisk = true;
      await begin(site);
    },
  },
  {
    name: 'Two destinations are the same place',
    async arrange(site) {
      mkdirSync(join(site.directory, 'usb'));
      symlinkSync(join(site.directory, 'usb'), join(site.directory, 'nas'));
      await begin(site, ['usb', 'nas']);
    },
  },
  {
    name: 'The limit of watched folders is reached',
    async arrange(site) {
      site.watchLimit = true;
      await begin(site, ['usb'], { watch: true });
      await eventually(
        async () => (await site.ask('status', {})).watcher.status === 'degraded',
        'the watcher',
      );
      await allEnded(site);
    },
  },
  {
    name: 'The passphrase is missing',
    async arrange(site) {
      await begin(site);
      rmSync(join(site.state, 'passphrase'));
      await backUp(site);
    },
  },
  {
    name: 'The passphrase does not open the repository',
    async arrange(site) {
      await begin(site);
      writeFileSync(join(site.state, 'passphrase'), 'another one altogether', { mode: 0o600 });
      await backUp(site);
    },
  },
  {
    name: 'Old snapshots could not be removed',
    async arrange(site) {
      await begin(site);
      writeFileSync(join(site.source, 'c.txt'), 'three');
      await backUp(site);
      for (const name of readdirSync(place(site)))
        if (name === 'snapshots' || name === 'tombstones')
          rmSync(join(place(site), name), { recursive: true });
      await ends(site, 'prune');
    },
  },
  {
    name: 'Several things at once',
    async arrange(site) {
      await begin(site);
      site.write({ 'locked.txt': 'x' });
      hide(site, 'locked.txt');
      await backUp(site);
      await site.agent.pause(null, false);
      appendFileSync(site.configFile, '{');
      await site.daemon.config.reload();
    },
  },
];
