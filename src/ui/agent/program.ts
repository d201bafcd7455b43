/** How the program is called on the machine of the agent, which writes it into the document. */

const PLAIN = 'holdfast';

const program =
  typeof document === 'undefined'
    ? PLAIN
    : (document.querySelector<HTMLMetaElement>('meta[name="program"]')?.content ?? PLAIN);

/** A command of it. What is put in are words of a shell already. */
export function holdfast(texts: TemplateStringsArray, ...words: readonly string[]): string {
  return `${program} ${texts.map((text, i) => text + (words[i] ?? '')).join('')}`;
}
