import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isMetered, linuxCircumstances } from '../../../src/jobs/circumstances.ts';
import { manualClock } from '../../support/manual-clock.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-circumstances-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function supply(name: string, properties: Readonly<Record<string, string>>): void {
  mkdirSync(join(directory, name), { recursive: true });
  for (const [file, text] of Object.entries(properties))
    writeFileSync(join(directory, name, file), `${text}\n`);
}

describe('power', () => {
  const onBattery = async (): Promise<boolean> =>
    await linuxCircumstances(manualClock(), { powerSupplies: directory }).onBattery();

  it('is the battery when one is being emptied and nothing is plugged in', async () => {
    supply('BAT0', { type: 'Battery', status: 'Discharging' });
    supply('AC', { type: 'Mains', online: '0' });
    expect(await onBattery()).toBe(true);
    supply('AC', { online: '1' });
    expect(await onBattery()).toBe(false);
  });

  it('is not the battery of a mouse, nor one that is full', async () => {
    supply('hidpp', { type: 'Battery', status: 'Discharging', scope: 'Device' });
    supply('BAT0', { type: 'Battery', status: 'Full' });
    expect(await onBattery()).toBe(false);
  });

  it('is the mains where the machine does not say', async () => {
    expect(await onBattery()).toBe(false);
    const absent = { powerSupplies: join(directory, 'absent') };
    expect(await linuxCircumstances(manualClock(), absent).onBattery()).toBe(false);
  });
});

describe('the network', () => {
  const device = (name: string, metered: string, gateway: string): string =>
    `GENERAL.DEVICE:${name}\nGENERAL.METERED:${metered}\nIP4.GATEWAY:${gateway}\nIP6.GATEWAY:\n`;

  it('is metered when a device that leads out of it is', () => {
    const lan = device('eth0', 'no (guessed)', '192.168.1.1');
    const phone = device('usb0', 'yes (guessed)', '192.168.42.1');
    expect(isMetered(`${lan}\n${phone}`)).toBe(true);
    expect(isMetered(device('wlan0', 'yes', '10.0.0.1'))).toBe(true);
    expect(isMetered(`${lan}\n${device('usb0', 'yes', '')}`)).toBe(false);
    expect(isMetered(device('usb0', 'yes', '--'))).toBe(false);
    expect(isMetered(device('eth0', 'unknown', '192.168.1.1'))).toBe(false);
    expect(isMetered('')).toBe(false);
  });

  it('is that of the device that is used, not of one that is there in case it fails', () => {
    const routed = (name: string, type: string, metered: string, metric: number): string =>
      `${device(name, metered, '10.0.0.1')}GENERAL.TYPE:${type}\nIP4.ROUTE[1]:dst = 10.0.0.0/24, nh = 0.0.0.0, mt = 1\nIP4.ROUTE[2]:dst = 0.0.0.0/0, nh = 10.0.0.1, mt = ${metric}\n`;
    const lan = routed('eth0', 'ethernet', 'no (guessed)', 100);
    const modem = routed('wwan0', 'gsm', 'yes (guessed)', 700);
    expect(isMetered(`${lan}\n${modem}`)).toBe(false);
    expect(isMetered(`${modem}\n${lan}`)).toBe(false);
    // As NetworkManager does with a cable that leads nowhere.
    expect(isMetered(`${routed('eth0', 'ethernet', 'no (guessed)', 20_100)}\n${modem}`)).toBe(true);
    expect(isMetered(`${routed('tun0', 'tun', 'no', 50)}\n${modem}`)).toBe(true);
    const six = 'IP6.GATEWAY:fe80\\:\\:1\nIP6.ROUTE[1]:dst = \\:\\:/0, nh = fe80\\:\\:1, mt = 100\n';
    expect(isMetered(`GENERAL.DEVICE:eth0\nGENERAL.METERED:no\n${six}\n${modem}`)).toBe(false);
  });

  it('is asked of NetworkManager once for all that ask at the same time', async () => {
    const nmcli = join(directory, 'nmcli');
    writeFileSync(
      nmcli,
      `#!/bin/sh\necho x >> ${directory}/calls\nprintf 'GENERAL.METERED:yes\\nIP4.GATEWAY:10.0.0.1\\n'\n`,
    );
    chmodSync(nmcli, 0o755);
    const clock = manualClock();
    const { onMetered } = linuxCircumstances(clock, { nmcli });
    expect(await Promise.all([onMetered(), onMetered()])).toEqual([true, true]);
    writeFileSync(nmcli, '#!/bin/sh\nexit 1\n');
    expect(await onMetered()).toBe(true);
    await clock.advance(11_000);
    expect(await onMetered()).toBe(false);
  });

  it('is not metered where nobody knows', async () => {
    expect(await linuxCircumstances(manualClock(), { nmcli: join(directory, 'absent') }).onMetered()).toBe(
      false,
    );
  });
});
