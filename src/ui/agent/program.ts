/** How to call the program on the machine of the agent, which writes that into the document. */

const PLAIN = 'holdfast';

const program =
  typeof document === 'undefined'
    ? PLAIN
    : (document.querySelector<HTMLMetaElement>('meta[name="program"]')?.content ?? PLAIN);

/** A command line of the program. The values put in must already be quoted for a shell. */
export function holdfast(texts: TemplateStringsArray, ...words: readonly string[]): string {
  return `${program} ${texts.map((text, i) => text + (words[i] ?? '')).join('')}`;
}
