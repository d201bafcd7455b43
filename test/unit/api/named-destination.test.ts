import { describe, expect, test } from 'vitest';
import { jobDestination } from '../../../src/api/routes/named-destination.ts';
import { RequestError } from '../../../src/base/errors.ts';
import { defaultSettings } from '../../../src/config/effective-settings.ts';
import type { Settings } from '../../../src/config/settings.ts';

const settings: Settings = {
  ...defaultSettings({ home: '/home/ana', stateDirectory: '/state' }),
  defaultDestination: 'usb',
  destinations: [
    { name: 'usb', url: '/mnt/usb', passphrase: null },
    { name: 'bucket', url: 's3://bucket/laptop', passphrase: null },
  ],
};

/** What jobs are looked for by, where there are jobs of these destinations. */
function ask(given: string, recorded: readonly string[] = []): string {
  const agent = {
    jobs: ({ destination }: { destination?: string }) => recorded.filter((one) => one === destination),
    destinationOf: () => {
      throw new RequestError('INVALID_DESTINATION', 'There is none');
    },
  } as unknown as Parameters<typeof jobDestination>[2]['agent'];
  return jobDestination(given, 'backup', { agent, settings: () => settings });
}

describe('the destination that jobs are looked for by', () => {
  test.each([
    ['usb', 'usb'],
    ['default', 'usb'],
    ['cloud', 'bucket'],
    ['/mnt/usb/', 'usb'],
    ['file:///mnt/usb', 'usb'],
    ['s3://bucket/laptop', 'bucket'],
    ['/mnt/other disk', 'file:///mnt/other%20disk'],
    ['file:///mnt/a%2Fb', 'file:///mnt/a%2Fb'],
    ['unknown', 'unknown'],
  ])('%s is %s', (given, expected) => {
    expect(ask(given)).toBe(expected);
  });

  test('is also what it was called before it had a name', () => {
    expect(ask('file:///mnt/usb', ['file:///mnt/usb'])).toBe('file:///mnt/usb');
  });
});
