/** The browser of the suite: that of this machine, else one unpacked from Debian's package. */
import { join } from 'node:path';
import { debianPrograms } from '../servers/debian-programs.ts';
import { INSTALLED_BROWSER } from '../support/chromium.ts';

export async function setup(): Promise<void> {
  if (INSTALLED_BROWSER !== undefined || process.env['HOLDFAST_TEST_BROWSER'] !== undefined) return;
  const { directory, environment } = await debianPrograms('chromium', ['chromium']);
  process.env['HOLDFAST_TEST_BROWSER'] = join(directory, 'usr', 'lib', 'chromium', 'chromium');
  process.env['HOLDFAST_TEST_BROWSER_LIBRARIES'] = environment['LD_LIBRARY_PATH'];
}
