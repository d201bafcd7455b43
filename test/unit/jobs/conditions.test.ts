import { describe, expect, it } from 'vitest';
import {
  type ConditionInput,
  quietHoursUntil,
  uploadLimitAt,
  waitingReason,
} from '../../../src/jobs/conditions.ts';

const at = (time: string): number => Date.parse(`2026-03-10T${time}:00Z`);

describe('quiet hours', () => {
  it.each([
    ['22:00-06:00', '21:59', null],
    ['22:00-06:00', '22:00', '06:00'],
    ['22:00-06:00', '00:00', '06:00'],
    ['22:00-06:00', '05:59', '06:00'],
    ['22:00-06:00', '06:00', null],
    ['09:30-17:00', '09:29', null],
    ['09:30-17:00', '16:59', '17:00'],
    ['09:30-17:00', '17:00', null],
    ['20:00-24:00', '23:59', '00:00'],
    ['20:00-24:00', '00:00', null],
    ['00:00-24:00', '12:00', '00:00'],
    ['07:00-07:00', '07:00', null],
    [null, '07:00', null],
  ])('%s at %s', (hours, time, until) => {
    expect(quietHoursUntil(hours, at(time), 'UTC')).toBe(until);
  });

  it('are those of the time zone, before and after the clocks change', () => {
    // Berlin: 23:30 in winter and in summer.
    expect(quietHoursUntil('23:00-06:00', Date.parse('2026-01-10T22:30:00Z'), 'Europe/Berlin')).toBe('06:00');
    expect(quietHoursUntil('23:00-06:00', Date.parse('2026-07-10T21:30:00Z'), 'Europe/Berlin')).toBe('06:00');
    expect(quietHoursUntil('23:00-06:00', Date.parse('2026-01-10T21:30:00Z'), 'Europe/Berlin')).toBeNull();
    expect(quietHoursUntil('03:00-04:00', Date.parse('2026-01-10T21:30:00Z'), 'Asia/Kathmandu')).toBe(
      '04:00',
    );
  });

  it('that say nothing are refused', () => {
    for (const hours of ['22-6', '22:00', '25:00-26:00', '10:60-11:00', '']) {
      expect(() => quietHoursUntil(hours, at('12:00'), 'UTC')).toThrow('not a time of day');
    }
    expect(() => quietHoursUntil('22:00-06:00', at('12:00'), 'Nowhere/Town')).toThrow('not a time zone');
  });
});

describe('limits by time of day', () => {
  const rules = [
    { from: '18:00', uploadLimit: null },
    { from: '08:00', uploadLimit: 1_000 },
    { from: '12:00', uploadLimit: 2_000 },
  ];

  it.each([
    ['07:59', null],
    ['08:00', 1_000],
    ['11:59', 1_000],
    ['12:00', 2_000],
    ['18:00', null],
  ])('hold until the next one: %s', (time, limit) => {
    expect(uploadLimitAt(rules, at(time), 'UTC')).toBe(limit);
  });

  it('go on over midnight, and are none without rules', () => {
    expect(uploadLimitAt([{ from: '08:00', uploadLimit: 5 }], at('03:00'), 'UTC')).toBe(5);
    expect(uploadLimitAt([], at('03:00'), 'UTC')).toBeNull();
    expect(uploadLimitAt(rules, Date.parse('2026-07-10T06:00:00Z'), 'Europe/Berlin')).toBe(1_000);
  });
});

describe('the reason to wait', () => {
  const input: ConditionInput = {
    conditions: { onBattery: 'wait', onMetered: 'wait', quietHours: '22:00-06:00' },
    timeZone: 'UTC',
    remote: true,
    destinationPresent: true,
  };
  const ask = async (
    change: Partial<ConditionInput>,
    { trigger = 'schedule', battery = false, metered = false, time = '12:00' } = {},
  ): Promise<string | undefined> => {
    const wait = await waitingReason(
      { trigger: trigger as 'schedule' },
      { ...input, ...change },
      {
        onBattery: async () => await Promise.resolve(battery),
        onMetered: async () => await Promise.resolve(metered),
      },
      at(time),
    );
    return wait?.code;
  };

  it('is the first one that holds', async () => {
    expect(await ask({})).toBeUndefined();
    expect(await ask({}, { time: '23:00' })).toBe('quiet_hours');
    expect(await ask({}, { battery: true, metered: true })).toBe('on_battery');
    expect(await ask({}, { metered: true })).toBe('on_metered');
    expect(await ask({ destinationPresent: false })).toBe('destination_absent');
  });

  it('is none that the settings do not name', async () => {
    const conditions = { onBattery: 'run', onMetered: 'run', quietHours: null } as const;
    expect(await ask({ conditions }, { battery: true, metered: true, time: '23:00' })).toBeUndefined();
  });

  it('is no metered network for a destination on this machine', async () => {
    expect(await ask({ remote: false }, { metered: true })).toBeUndefined();
  });

  it('is only an absent destination for what somebody waits for', async () => {
    for (const trigger of ['api', 'cli', 'ui']) {
      expect(await ask({}, { trigger, battery: true, metered: true, time: '23:00' })).toBeUndefined();
      expect(await ask({ destinationPresent: false }, { trigger })).toBe('destination_absent');
    }
    expect(await ask({}, { trigger: 'watch', battery: true })).toBe('on_battery');
  });
});
