/** What the package puts in place, sources and destinations by root and by a person, and a start of the machine. */
import type { Bench, Part } from '../bench.ts';
import { GuestAgent } from '../guest-agent.ts';
import { makeTree, restoredAlike } from '../trees.ts';

export const install: Part = {
  name: 'install',
  purpose: 'the package, sources and destinations by root and by a person, a restart of the machine',
  minutes: 25,
  run: async (bench) => {
    const frozen = await bench.installed();
    bench.figures['first boot (s)'] = seconds(bench.booted.facts['bootMs']);
    bench.figures['installation (s)'] = seconds(frozen.facts['installMs']);
    bench.figures['installation until the agent answers (s)'] = seconds(frozen.facts['readyMs']);
    const machine = await bench.machine();
    bench.figures['a frozen machine goes on (s)'] = seconds(machine.startedMs);
    const { guest } = machine;
    const agent = new GuestAgent(guest);
    const facts = await guest.run(
      `systemctl is-active holdfast; systemctl is-enabled holdfast; stat -c '%U %a' /etc/holdfast/config.json /var/lib/holdfast; systemd-analyze security holdfast.service --no-pager | tail -1; systemctl show -p NRestarts --value holdfast`,
    );
    bench.check(
      'the service runs, starts with the machine, and keeps its things private',
      facts.startsWith('active\nenabled\nholdfast 600\nholdfast 700\n') && facts.trim().endsWith('\n0'),
      facts,
    );
    bench.figures['exposure by systemd-analyze'] =
      /level for holdfast.service: ([\d.]+)/.exec(facts)?.[1] ?? '?';
    await agent.credential();
    await backUp(bench, agent);
    await byPersons(bench, agent);
    await guest.run('sync');
    await machine.powerOff();
    await afterStart(bench, machine.directory);
  },
};

async function backUp(bench: Bench, agent: GuestAgent): Promise<void> {
  const { guest } = agent;
  await makeTree(guest, '/srv/papers', 1, 60);
  await guest.run('install -d -o holdfast -g holdfast -m 0700 /srv/backup');
  const allowed = await guest.try('holdfast service allow-write /srv/backup', { withinMs: 200_000 });
  bench.check('root lets the service write to a directory of the system disk', allowed.code === 0, allowed);
  await agent.ready();
  const added = await agent.try('destinations add shelf /srv/backup --default');
  bench.check('the user of the service adds a destination', added.code === 0, added);
  const source = await agent.try('sources add /srv/papers');
  bench.check('and a source', source.code === 0, source);
  const job = await agent.submit('backup', { source: '/srv/papers' });
  const ended = await agent.finished('backup', job.id);
  bench.check('which is backed up', ended.status === 'completed', ended);
  const alike = await restoredAlike(guest, agent, `${ended.snapshot_id}`, '/srv/papers', '-r shelf');
  bench.check(
    'what root restores of it has the contents, owners, modes and times of before',
    alike === '',
    alike,
  );
}

/** What happens to those who do not know that the service has a user of its own. */
async function byPersons(bench: Bench, agent: GuestAgent): Promise<void> {
  const { guest } = agent;
  for (const who of ['root', 'anna']) {
    const added = await guest.try(`cd / && runuser -u ${who} -- holdfast sources add /etc`, {
      withinMs: 200_000,
    });
    const listed = await agent.run('sources list');
    const isHonest = added.code !== 0 || /\/etc\b/.test(listed);
    bench.check(
      `"sources add" by ${who} ends well only where the running agent has the source then`,
      isHonest,
      `${added.stdout}${added.stderr}`,
    );
    const asked = await guest.try(`cd / && runuser -u ${who} -- holdfast status`, { withinMs: 200_000 });
    bench.check(
      `"status" by ${who} speaks of the service of the machine`,
      /holdfast status|service|srv\/papers/.test(`${asked.stdout}${asked.stderr}`),
      asked,
    );
  }
}

/** The machine is started anew from its disk. */
async function afterStart(bench: Bench, directory: string): Promise<void> {
  const machine = await bench.bootAgain(directory);
  const agent = new GuestAgent(machine.guest);
  const beganMs = performance.now();
  await agent.ready();
  bench.figures['boot (s)'] = seconds(machine.startedMs);
  bench.figures['boot until the agent is ready (s)'] = seconds(
    machine.startedMs + performance.now() - beganMs,
  );
  await makeTree(machine.guest, '/srv/papers', 2, 20);
  const job = await agent.submit('backup', { source: '/srv/papers' });
  const ended = await agent.finished('backup', job.id);
  bench.check(
    'after a restart of the machine the next backup goes to the same place',
    ended.status === 'completed',
    ended,
  );
  const alike = await restoredAlike(machine.guest, agent, `${ended.snapshot_id}`, '/srv/papers', '-r shelf');
  bench.check('and comes back as it was', alike === '', alike);
  const checked = await agent.try('check -r shelf --read-data');
  bench.check('the repository is whole', checked.code === 0, checked);
  const memory = await machine.guest.run('systemctl show -p MemoryCurrent --value holdfast');
  bench.figures['memory of the service after that (MB)'] = Math.round(Number(memory) / 1e6);
  await bench.done(machine);
}

function seconds(ms: number | undefined): number {
  return Math.round((ms ?? 0) / 100) / 10;
}
