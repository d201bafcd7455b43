/** Whether the machine runs on battery or a metered network. Linux only so far: elsewhere neither is detected. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errnoOf } from '../base/errors.ts';
import { namesIn } from '../base/atomic-file.ts';
import type { Circumstances } from './conditions.ts';

/** Milliseconds for which an answer is reused, since many jobs may ask at once. */
const FRESH_MS = 10_000;
/** Milliseconds that NetworkManager has to answer. */
const ANSWER_MS = 5_000;

export interface CircumstanceSources {
  readonly powerSupplies?: string | undefined;
  /** The program that is asked about the network. */
  readonly nmcli?: string | undefined;
}

export function linuxCircumstances(
  clock: Clock,
  { powerSupplies = '/sys/class/power_supply', nmcli = 'nmcli' }: CircumstanceSources = {},
): Circumstances {
  return {
    onBattery: keptFresh(clock, async () => await readsOnBattery(powerSupplies)),
    onMetered: keptFresh(clock, async () => await saysMetered(nmcli)),
  };
}

function keptFresh(clock: Clock, ask: () => Promise<boolean>): () => Promise<boolean> {
  let last: { readonly atMs: number; readonly answer: Promise<boolean> } | undefined;
  return async () => {
    const nowMs = clock.monotonic();
    if (last === undefined || nowMs - last.atMs > FRESH_MS) last = { atMs: nowMs, answer: ask() };
    return await last.answer;
  };
}

/** True when a battery of the computer itself is discharging and no other supply is connected. */
async function readsOnBattery(directory: string): Promise<boolean> {
  let discharging = false;
  for (const name of await namesIn(directory)) {
    const property = async (file: string): Promise<string> => await textOf(join(directory, name, file));
    const type = await property('type');
    if (type === 'Battery') {
      // Scope `Device` is the battery of a mouse or a headset.
      const own = (await property('scope')) !== 'Device';
      discharging ||= own && (await property('status')) === 'Discharging';
    } else if ((await property('online')) === '1') return false;
  }
  return discharging;
}

/** Empty when the supply lacks this property, or was just unplugged. */
async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'latin1')).trim();
  } catch (error) {
    if (['ENOENT', 'ENODEV', 'EIO', 'ENODATA'].includes(errnoOf(error) ?? '')) return '';
    throw error;
  }
}

/** False when NetworkManager is missing, or does not know. */
async function saysMetered(nmcli: string): Promise<boolean> {
  const fields = 'GENERAL.DEVICE,GENERAL.TYPE,GENERAL.METERED,IP4.GATEWAY,IP4.ROUTE,IP6.GATEWAY,IP6.ROUTE';
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { timeout: ANSWER_MS, env: { LC_ALL: 'C', PATH: '/usr/bin:/bin:/usr/sbin:/sbin' } };
  execFile(nmcli, ['-t', '-f', fields, 'device', 'show'], options, (error, text) => {
    resolve(error === null ? text : '');
  });
  return isMetered(await promise);
}

interface WayOut {
  readonly isMetered: boolean;
  /** What goes through it leaves by another device. */
  readonly isTunnel: boolean;
  /** The lowest of its default routes, undefined where it is not told: the device with the lowest one is used. */
  readonly metric: number | undefined;
}

/**
 * Whether a device with a gateway is metered, from the terse answer of `nmcli device show`. One that is only there in case
 * another fails, such as a modem beside a cable, does not count.
 */
export function isMetered(answer: string): boolean {
  const ways = answer.split(/\n\s*\n/).flatMap(wayOut);
  const used = (metered: WayOut): boolean =>
    !ways.some(
      ({ isMetered: costs, isTunnel, metric }) =>
        !costs &&
        !isTunnel &&
        metric !== undefined &&
        metered.metric !== undefined &&
        metric < metered.metric,
    );
  return ways.some((way) => way.isMetered && used(way));
}

const TUNNELS: ReadonlySet<string> = new Set(['tun', 'wireguard', 'vpn', 'ip-tunnel', 'ppp']);

/** Empty for a device that does not lead out. */
function wayOut(device: string): WayOut[] {
  const lines = device.split('\n').map((line): readonly [string, string] => {
    const at = line.indexOf(':');
    return [
      line.slice(0, at),
      line
        .slice(at + 1)
        .replaceAll('\\', '')
        .trim(),
    ];
  });
  const values = new Map(lines);
  if (['IP4.GATEWAY', 'IP6.GATEWAY'].every((name) => ['', '--'].includes(values.get(name) ?? ''))) return [];
  const metrics = lines
    .filter(([name, route]) => /^IP[46]\.ROUTE\b/.test(name) && /dst = (?:0\.0\.0\.0|::)\/0\b/.test(route))
    .map(([, route]) => Number(/\bmt = (\d+)/.exec(route)?.[1]))
    .filter((metric) => !Number.isNaN(metric));
  return [
    {
      isMetered: (values.get('GENERAL.METERED') ?? '').startsWith('yes'),
      isTunnel: TUNNELS.has(values.get('GENERAL.TYPE') ?? ''),
      metric: metrics.length === 0 ? undefined : Math.min(...metrics),
    },
  ];
}
