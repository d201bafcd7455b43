/** What happens to a whole machine: it sleeps, its clock is wrong, its memory is small, its disk is full, its watches run out. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Part } from '../bench.ts';
import { GuestAgent, type ShownJob } from '../guest-agent.ts';
import { makeTree, restoredAlike } from '../trees.ts';
import { untilStored } from './package.ts';

const PAPERS = '/srv/papers';

async function backUp(agent: GuestAgent): Promise<ShownJob> {
  const { id } = await agent.submit('backup', { source: PAPERS });
  return await agent.finished('backup', id);
}

async function isWhole(bench: Bench, agent: GuestAgent, job: ShownJob, when: string): Promise<void> {
  bench.check(`${when}: the backup completes`, job.status === 'completed', job);
  const alike = await restoredAlike(agent.guest, agent, `${job.snapshot_id}`, PAPERS, '');
  bench.check(`${when}: it restores to what stood there`, alike === '', alike);
}

export const suspend: Part = {
  name: 'suspend',
  purpose: 'the machine stands still for a minute in the midst of a backup',
  minutes: 15,
  run: async (bench) => {
    const machine = await bench.machine();
    const agent = new GuestAgent(machine.guest);
    await agent.credential();
    await makeTree(machine.guest, PAPERS, 1, 90);
    const { id } = await agent.submit('backup', { source: PAPERS });
    await untilStored(agent, 3_000);
    const pid = await machine.guest.run('systemctl show -p MainPID --value holdfast');
    await machine.control('stop');
    await sleep(60_000);
    await machine.control('cont');
    // Clocks of machines that sleep are set when they wake.
    await machine.guest.run(`date -s '@${Math.floor(Date.now() / 1000)}'`);
    await isWhole(bench, agent, await agent.finished('backup', id), 'after a sleep');
    const after = await machine.guest.run('systemctl show -p MainPID --value holdfast');
    bench.check('the agent is the one of before: no watchdog has ended it', pid === after, `${pid} ${after}`);
    await bench.done(machine);
  },
};

export const clock: Part = {
  name: 'clock',
  purpose: 'the clock goes a day forward and back',
  minutes: 20,
  run: async (bench) => {
    const machine = await bench.machine();
    const { guest } = machine;
    const agent = new GuestAgent(guest);
    await agent.credential();
    await makeTree(guest, PAPERS, 1, 6);
    await agent.run(`sources add ${PAPERS}`);
    await isWhole(bench, agent, await backUp(agent), 'before');
    const pid = await guest.run('systemctl show -p MainPID --value holdfast');
    for (const [way, seconds] of [
      ['a day forward', 86_400],
      ['and back', -86_400],
    ] as const) {
      const jobs = await countJobs(agent);
      await guest.run(`date -s "@$(( $(date +%s) + ${seconds} ))"`);
      await sleep(45_000);
      const more = (await countJobs(agent)) - jobs;
      // Of each source one backup, and the upkeep that is due once a week.
      bench.check(`${way}: no storm of jobs`, more <= 5, `${more} more`);
      bench.figures[`jobs begun within 45 s, ${way}`] = more;
      await makeTree(guest, PAPERS, seconds > 0 ? 2 : 3, 6);
      await isWhole(bench, agent, await backUp(agent), `the clock ${way}`);
    }
    const after = await guest.run('systemctl show -p MainPID --value holdfast');
    bench.check('the agent is the one of before', pid === after, `${pid} ${after}`);
    const checked = await agent.try('check --read-data');
    bench.check('the repository is whole', checked.code === 0, checked);
    await bench.done(machine);
  },
};

async function countJobs(agent: GuestAgent): Promise<number> {
  const out = await agent.run('jobs --limit 200 --json');
  return out.split('\n').filter((line) => line.includes('"id"')).length;
}

export const memory: Part = {
  name: 'memory',
  purpose: 'a machine of 512 MiB boots, backs up, checks and restores',
  minutes: 30,
  run: async (bench) => {
    const machine = await bench.boot({ memoryMiB: 512 });
    const { guest } = machine;
    const agent = new GuestAgent(guest);
    await agent.ready();
    await agent.credential();
    const pid = await guest.run('systemctl show -p MainPID --value holdfast');
    await makeTree(guest, PAPERS, 1, 90);
    await guest.run(`mkdir -p ${PAPERS}/many; cd ${PAPERS}/many; seq 1 5000 | split -l 1 -a 4 - f`, {
      withinMs: 300_000,
    });
    await isWhole(bench, agent, await backUp(agent), 'with 512 MiB');
    const checked = await agent.try('check --read-data', { withinMs: 400_000 });
    bench.check('with 512 MiB the repository is checked, and whole', checked.code === 0, checked);
    const killed = await guest.run("journalctl -k --no-pager | grep -ci 'out of memory\\|oom-kill' || true");
    bench.check('nothing was killed for want of memory', killed.trim() === '0', killed);
    const after = await guest.run('systemctl show -p MainPID --value holdfast');
    const journal = await guest.run('journalctl -u holdfast --no-pager | tail -20');
    bench.check('the agent is the one of before', pid === after, `${pid} ${after} ${journal}`);
    const peak = await guest.run('cat /sys/fs/cgroup/system.slice/holdfast.service/memory.peak');
    bench.figures['most memory of the service, caches included (MB)'] = Math.round(Number(peak) / 1e6);
    await bench.done(machine);
  },
};

export const fullDisk: Part = {
  name: 'fulldisk',
  purpose: 'the disk of the system, with state and repository on it, is full',
  minutes: 25,
  run: async (bench) => {
    const machine = await bench.machine();
    const { guest } = machine;
    const agent = new GuestAgent(guest);
    await agent.credential();
    await makeTree(guest, PAPERS, 1, 30);
    await isWhole(bench, agent, await backUp(agent), 'with room');
    await makeTree(guest, PAPERS, 2, 60);
    // All that root may use, too; what is only reserved takes no time.
    await guest.run(
      `fallocate -l $(( $(df -k --output=avail / | tail -1) - 65536 ))k /ballast; dd if=/dev/zero of=/ballast2 bs=1M 2>/dev/null; dd if=/dev/zero of=/ballast3 bs=4k 2>/dev/null; df / | tail -1`,
      { withinMs: 500_000 },
    );
    const asked = await agent.ask('POST', '/backup', { source: PAPERS });
    await sleep(30_000);
    const status = await agent.ask('GET', '/status');
    bench.check('the agent still answers', status.status === 200, status);
    const id = (asked.body as { data?: { id?: string } }).data?.id;
    if (id === undefined) bench.check('a job that cannot be noted is refused', asked.status >= 400, asked);
    else {
      const job = await agent.job('backup', id);
      bench.check('the backup is not told as completed', job.status !== 'completed', job);
    }
    bench.figures['answer to a backup on a full disk'] = asked.status;
    await guest.run('rm -f /ballast*; sync', { withinMs: 200_000 });
    await agent.ready();
    await isWhole(bench, agent, await backUp(agent), 'once there is room again');
    const checked = await agent.try('check --read-data');
    bench.check('the repository is whole', checked.code === 0, checked);
    const whole = await guest.run(
      `for db in /var/lib/holdfast/state.db /var/lib/holdfast/catalog/*.db; do sqlite3 "$db" 'PRAGMA integrity_check'; done | sort -u`,
    );
    bench.check('so are the databases', whole.trim() === 'ok', whole);
    await bench.done(machine);
  },
};

export const watches: Part = {
  name: 'watches',
  purpose: 'a limit of 1,000 inotify watches, and a source with more directories',
  minutes: 15,
  run: async (bench) => {
    const machine = await bench.machine();
    const { guest } = machine;
    await guest.run('sysctl -q fs.inotify.max_user_watches=1000; systemctl restart holdfast', {
      withinMs: 200_000,
    });
    const agent = new GuestAgent(guest);
    await agent.ready();
    await agent.credential();
    await makeTree(guest, PAPERS, 1, 3);
    await guest.run(
      `cd ${PAPERS} && seq -f 'sub-%g' 1 2500 | xargs mkdir && for n in $(seq 1 50 2500); do echo $n >sub-$n/file; done`,
      { withinMs: 200_000 },
    );
    await agent.run(`sources add ${PAPERS}`);
    await isWhole(bench, agent, await backUp(agent), 'with too few watches');
    const shown = `${(await agent.try('status')).stdout}${(await agent.try('doctor')).stdout}`;
    bench.check('"status" or "doctor" says what the limit means', /watch/i.test(shown), shown);
    await guest.run(`echo changed >${PAPERS}/sub-2451/file`);
    await isWhole(bench, agent, await backUp(agent), 'a change where nothing is watched');
    await bench.done(machine);
  },
};
