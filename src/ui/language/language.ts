/** The reader's language: chosen on the page, else that of the browser, else English. */
import { english, type Texts } from './english/english.ts';

export type { Texts } from './english/english.ts';

interface LanguageFacts {
  /** As its speakers call it. */
  readonly name: string;
  /** Only English is loaded from the start. Any other is a script of its own, fetched once it is wanted. */
  readonly load: () => Texts | Promise<Texts>;
}

/** By their codes in `lang` attributes, in the order in which they can be chosen. */
export const LANGUAGES = {
  en: { name: 'English', load: () => english },
  de: { name: 'Deutsch', load: async () => (await import('./german/german.ts')).german },
  fr: { name: 'Français', load: async () => (await import('./french/french.ts')).french },
  es: { name: 'Español', load: async () => (await import('./spanish/spanish.ts')).spanish },
} as const satisfies Readonly<Record<string, LanguageFacts>>;
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

export async function useLanguage(wanted: Language): Promise<void> {
  t = await LANGUAGES[wanted].load();
  language = wanted;
  document.documentElement.lang = wanted;
}

export function keepLanguage(wanted: Language): void {
  localStorage.setItem(KEPT, wanted);
}
