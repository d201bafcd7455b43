/** Which destination of the settings is meant by the place that somebody types. */
import { expect, test } from 'vitest';
import { startPlace } from '../../../src/cli/settings/start-place.ts';
import { defaultSettings } from '../../../src/config/effective-settings.ts';

const settings = {
  ...defaultSettings({ home: '/home/ana', stateDirectory: '/state' }),
  destinations: [
    { name: 'ana', url: 'webdavs://ana@nas/home/backup', passphrase: null },
    { name: 'stick', url: '/mnt/stick', passphrase: null },
  ],
};

test.each([
  ['webdavs://ana@nas:443/home/backup/', 'ana'],
  ['webdavs://nas/home/backup', 'ana'],
  ['/mnt/stick/', 'stick'],
])('%s is the destination that is there', (typed, name) => {
  expect(startPlace(typed, settings)).toMatchObject({ name, isNew: false });
});

test('the folder of another user on the same server is another destination', () => {
  const typed = 'webdavs://bob@nas/home/backup';
  expect(startPlace(typed, settings)).toEqual({ name: 'backup', url: typed, isNew: true });
});
