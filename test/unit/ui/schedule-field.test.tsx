import { afterEach, describe, expect, test, vi } from 'vitest';
import { ScheduleEditor } from '../../../src/ui/pages/settings/schedule-field.tsx';
import { SettingsForm } from '../../../src/ui/pages/settings/settings-form.tsx';
import { settingsOnPage } from '../../support/settings-on-page.ts';
import { type SmallPage, smallPage } from '../../support/small-document.ts';

const NAME = 'sources[0].schedule';

afterEach(() => {
  vi.unstubAllGlobals();
});

async function editorOf(schedule: string): Promise<SmallPage> {
  settingsOnPage({ sources: [{ path: '/home/ana', schedule }] });
  return await smallPage(
    <SettingsForm paths={() => [['sources', 0, 'schedule']]}>
      <ScheduleEditor path={['sources', 0, 'schedule']} />
    </SettingsForm>,
  );
}

describe('the fields of a schedule', () => {
  test('stay while one of them is empty, and take what is typed next', async () => {
    using page = await editorOf('every 4h');
    await page.type(page.field(`${NAME}-every`), '');
    expect(page.field(`${NAME}-every`).value).toBe('');
    await page.type(page.field(`${NAME}-every`), '6');
    expect(page.text).toContain("holdfast config set 'sources[0].schedule' 'every 6h'");
  });

  test('keep the weekday while the time is empty', async () => {
    using page = await editorOf('30 2 * * 3');
    await page.type(page.field(`${NAME}-time`), '');
    expect(page.text).not.toContain('undefined');
    await page.type(page.field(`${NAME}-time`), '04:05');
    expect(page.text).toContain("'5 4 * * 3'");
  });

  test('give way to the text of a schedule, which begins as what it was, and is kept as it is typed', async () => {
    using page = await editorOf('every 4h');
    await page.type(page.field(`${NAME}-every`), '6');
    await page.choose(page.field(`${NAME}-frequency`), 'cron');
    expect(page.field(`${NAME}-text`).value).toBe('every 6h');
    await page.type(page.field(`${NAME}-text`), 'hourly');
    expect(page.field(`${NAME}-text`).value).toBe('hourly');
  });

  test('are those of the schedule again once the change is given up', async () => {
    using page = await editorOf('every 4h');
    await page.type(page.field(`${NAME}-every`), '');
    await page.press(page.button('Discard'));
    expect(page.field(`${NAME}-every`).value).toBe('4');
  });
});
