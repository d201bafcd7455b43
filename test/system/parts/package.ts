/** An upgrade in the midst of a job, and what a removal and a purge leave behind. */
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import type { Bench, Part } from '../bench.ts';
import { GuestAgent } from '../guest-agent.ts';
import type { Machine } from '../machine.ts';
import { withPackages } from '../stages.ts';
import { makeTree, restoredAlike } from '../trees.ts';

export const upgrade: Part = {
  name: 'upgrade',
  purpose: 'a package of a higher version is installed while a backup runs',
  minutes: 25,
  run: async (bench) => {
    const next = bench.packages.next();
    const machine = await bench.machine();
    const { guest } = machine;
    const agent = new GuestAgent(guest);
    await agent.credential();
    await makeTree(guest, '/srv/papers', 1, 90);
    const { id } = await agent.submit('backup', { source: '/srv/papers' });
    await untilStored(agent, 4_000);
    await withPackages(machine, bench.place('next'), [next], async (place) => {
      const before = await agent.job('backup', id);
      const beganMs = performance.now();
      const installed = await guest.try(`dpkg --install ${place}/${path.basename(next)}`, {
        withinMs: 500_000,
      });
      bench.check('the upgrade goes through', installed.code === 0, installed);
      bench.figures['upgrade (s)'] = Math.round((performance.now() - beganMs) / 100) / 10;
      await agent.ready();
      const after = await agent.job('backup', id);
      const wasHit = before.status === 'running' && after.finished_at === null;
      bench.check('it came in the midst of a job', wasHit, { before, after });
    });
    const says = await agent.run('--version');
    bench.check(
      'the new program runs, and says the version of its package',
      says.trim() === 'holdfast 0.1.1',
      says,
    );
    const ended = await agent.finished('backup', id);
    bench.check('the job that was hit completes', ended.status === 'completed', ended);
    bench.figures['attempts that it took'] = ended.attempt;
    const alike = await restoredAlike(guest, agent, `${ended.snapshot_id}`, '/srv/papers', '');
    bench.check('and restores to what stood there', alike === '', alike);
    const checked = await agent.try('check --read-data');
    bench.check('the repository is whole', checked.code === 0, checked);
    await bench.done(machine);
  },
};

export const remove: Part = {
  name: 'remove',
  purpose: 'what "remove" and "purge" take away, and that neither touches a backup',
  minutes: 20,
  run: async (bench) => {
    const machine = await bench.machine();
    const { guest } = machine;
    const agent = new GuestAgent(guest);
    await agent.credential();
    await makeTree(guest, '/srv/papers', 1, 3);
    await guest.run(
      'install -d -o holdfast -g holdfast -m 0700 /srv/backup && holdfast service allow-write /srv/backup',
      { withinMs: 300_000 },
    );
    await agent.ready();
    const { id } = await agent.submit('backup', { source: '/srv/papers' });
    await agent.finished('backup', id);
    await annasUnit(machine);
    await afterRemoval(bench, machine);
    await afterPurge(bench, machine);
    await bench.done(machine);
  },
};

async function annasUnit({ guest }: Machine): Promise<void> {
  const state = '/home/anna/.local/state/holdfast';
  await guest.run(`runuser -u anna -- mkdir -p ${state} && chmod 700 ${state}`);
  await guest.run(
    `echo '{ "listen": { "port": 7391 } }' >${state}/config.json && chown anna ${state}/config.json && chmod 600 ${state}/config.json`,
  );
  await guest.run(
    'holdfast service install --for anna --timeout 300 && mkdir -p /srv/hers && holdfast service allow-write /srv/hers --for anna',
    { withinMs: 600_000 },
  );
}

async function afterRemoval(bench: Bench, { guest }: Machine): Promise<void> {
  const removed = await guest.try('dpkg --remove holdfast', { withinMs: 300_000 });
  bench.check('the package can be removed', removed.code === 0, removed);
  const left = await guest.run(
    `ls -d /usr/lib/holdfast /usr/bin/holdfast 2>/dev/null; pgrep -u holdfast; pgrep -u anna; systemctl is-enabled holdfast-anna.service 2>/dev/null; true`,
  );
  bench.check(
    'no program, no process and no start with the machine is left',
    !/holdfast$|^\d+$|^enabled/m.test(left),
    left,
  );
  const kept = await guest.try(
    'test -s /etc/holdfast/config.json && test -d /var/lib/holdfast/repository && test -d /home/anna/.local/state/holdfast/repository',
  );
  bench.check('settings and backups are', kept.code === 0);
}

async function afterPurge(bench: Bench, { guest }: Machine): Promise<void> {
  const purged = await guest.try('dpkg --purge holdfast', { withinMs: 300_000 });
  bench.check(
    'purging says where keys and backups are kept',
    purged.code === 0 && purged.stdout.includes('/var/lib/holdfast'),
    purged,
  );
  const left = await guest.run(
    `find /etc /usr /lib/systemd /var/cache /run -xdev -iname '*holdfast*' ! -path '/etc/host*' 2>/dev/null | sort; dpkg -l holdfast 2>/dev/null | grep ^.[^n]; systemctl list-units --all --no-legend 'holdfast*'; true`,
  );
  bench.check('no file of the package, of its settings, or of its units is left', left.trim() === '', left);
  const kept = await guest.try(
    'test -d /var/lib/holdfast/repository && test -d /home/anna/.local/state/holdfast/repository',
  );
  bench.check('the backups are', kept.code === 0);
  const failed = await guest.run('systemctl --failed --no-legend; systemctl daemon-reload');
  bench.check('systemd has nothing to complain of', failed.trim() === '', failed);
}

/** Until so many KiB more are in the agent's own repository. */
export async function untilStored(agent: GuestAgent, kibibytes: number): Promise<void> {
  const size = async (): Promise<number> =>
    Number(await agent.guest.run(`du -sk ${agent.place.state}/repository | cut -f1`));
  const before = await size();
  const untilMs = performance.now() + 200_000;
  while ((await size()) < before + kibibytes && performance.now() < untilMs) await sleep(200);
}
