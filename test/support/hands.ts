/** What a person does with a page: by mouse, or by keyboard alone. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { tabTo } from './chromium.ts';

export interface Hands {
  /** Follows a link, or presses a button. */
  press(wanted: Locator): Promise<void>;
  /** Ticks a box, or chooses one of several. */
  tick(wanted: Locator): Promise<void>;
  /** Replaces what is in a field. */
  type(field: Locator, text: string): Promise<void>;
  /** Opens an entry of a list of files. */
  open(list: Locator, name: string): Promise<void>;
  /** Ticks an entry of a list of files. */
  choose(list: Locator, name: string): Promise<void>;
}

export function mouse(): Hands {
  return {
    press: async (wanted) => await wanted.click(),
    tick: async (wanted) => await wanted.check(),
    type: async (field, text) => await field.fill(text),
    open: async (list, name) => await list.getByRole('link', { name, exact: true }).click(),
    choose: async (list, name) => await list.getByRole('checkbox', { name: `Choose ${name}` }).check(),
  };
}

export function keyboard(page: Page): Hands {
  const reach = async (wanted: Locator): Promise<void> => {
    await wanted.waitFor();
    await tabTo(page, wanted);
  };
  return {
    async press(wanted) {
      await wanted.waitFor();
      await expect.poll(async () => await wanted.isEnabled(), { timeout: 30_000 }).toBe(true);
      await reach(wanted);
      await page.keyboard.press('Enter');
    },
    async tick(wanted) {
      if (await wanted.isChecked()) return;
      // Of several that exclude each other one can be reached, and arrows go on from it.
      const isRadio = (await wanted.getAttribute('type')) === 'radio';
      if (isRadio) await chooseByArrows(page, wanted);
      else {
        await reach(wanted);
        await page.keyboard.press('Space');
      }
    },
    async type(field, text) {
      await reach(field);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type(text);
    },
    async open(list, name) {
      await goTo(list, name);
      await page.keyboard.press('Enter');
    },
    async choose(list, name) {
      await goTo(list, name);
      await page.keyboard.press('Space');
    },
  };

  /** With the arrow keys, as in every grid. */
  async function goTo(list: Locator, name: string): Promise<void> {
    await list.getByText(name).first().waitFor();
    await reach(list);
    await page.keyboard.press('Home');
    const current = list.locator('.virtual-row.current');
    for (let count = 0; count < 100; count += 1) {
      if ((await current.innerText()).includes(name)) return;
      await page.keyboard.press('ArrowDown');
    }
    throw new Error(`${name} is not in the list`);
  }
}

async function chooseByArrows(page: Page, wanted: Locator): Promise<void> {
  const name = await wanted.getAttribute('name');
  const group = page.locator(`input[type=radio][name="${name}"]`);
  const count = await group.count();
  for (let at = 0; at < 200; at += 1) {
    const isThere = await group.evaluateAll((all) => all.some((one) => one === document.activeElement));
    if (isThere) break;
    await page.keyboard.press('Tab');
  }
  for (let at = 0; at < count; at += 1) {
    await page.keyboard.press('Space');
    if (await wanted.isChecked()) return;
    await page.keyboard.press('ArrowDown');
    if (await wanted.isChecked()) return;
  }
  throw new Error('the choice cannot be made with the arrow keys');
}
