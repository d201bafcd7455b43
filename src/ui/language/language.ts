/** The reader's language: chosen on the page, else that of the browser, else English. */
import { english, type Texts } from './english/english.ts';

export type { Texts } from './english/english.ts';

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const KEPT = 'holdfast-language';

/** The texts of the current language. Read them when rendering, as they change with the language. */
export let t: Texts = english;
export let language: Language = 'en';

function isLanguage(text: string | null | undefined): text is Language {
  return text !== null && text !== undefined && Object.hasOwn(LANGUAGES, text);
}

export function preferredLanguage(): Language {
  const kept = localStorage.getItem(KEPT);
  if (isLanguage(kept)) return kept;
  return navigator.languages.map((one) => one.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en';
}

/** Switches the language. Only English is loaded from the start. */
export async function useLanguage(wanted: Language): Promise<void> {
  t = wanted === 'en' ? english : (await import('./german/german.ts')).german;
  language = wanted;
  document.documentElement.lang = wanted;
}

export function keepLanguage(wanted: Language): void {
  localStorage.setItem(KEPT, wanted);
}
