/** Finds where code decides by a sentence: comparisons of texts with words in them, which are made for people. */

export interface CodeFile {
  readonly path: string;
  /** Without comments. */
  readonly code: string;
}

/** Two words or more, as a person writes them. */
const WORDS = String.raw`[A-Za-z][\w']+,? [A-Za-z]`;
const QUOTED = String.raw`(?:'(?:[^'\n\\]|\\.)*${WORDS}[^'\n]*'|"(?:[^"\n\\]|\\.)*${WORDS}[^"\n]*"|\`[^\`\n]*${WORDS}[^\`\n]*\`)`;
const ASKING = 'startsWith|endsWith|includes|indexOf|lastIndexOf|split|replace|replaceAll|has';
/** What errors and jobs have for people alone. */
const SENTENCES = 'message|hint|waiting_for|stderr';

const FOUND = [
  new RegExp(String.raw`\.(?:${ASKING})\(\s*${QUOTED}`, 'g'),
  new RegExp(String.raw`[=!]==\s*${QUOTED}`, 'g'),
  new RegExp(String.raw`\bcase\s+${QUOTED}\s*:`, 'g'),
  new RegExp(
    String.raw`\b(?:${SENTENCES})\??\s*\.(?:${ASKING}|match|matchAll|search|slice|substring)\(`,
    'g',
  ),
  new RegExp(String.raw`\.(?:${SENTENCES}) [=!]== (?!undefined|null|'')`, 'g'),
  new RegExp(String.raw`\.(?:test|exec)\((?:\w+\??\.)*(?:${SENTENCES})\b`, 'g'),
  // A regular expression with words.
  new RegExp(
    String.raw`[(=,[:?!&|]\s*\/(?![*/])(?:[^/\n\\[]|\\.|\[[^\]\n]*\])*[A-Za-z]{3,} \(?[A-Za-z]{2}[^/\n]*\/[dgimsuvy]*`,
    'g',
  ),
];

/** Constants with words: comparing with one is comparing with the sentence. */
const CONSTANT = new RegExp(String.raw`\bconst ([A-Z][A-Z\d_]*)(?:: string)? =\s*${QUOTED};`, 'g');

/** Each comparison in short, by file. */
export function comparedSentences(files: readonly CodeFile[]): ReadonlyMap<string, readonly string[]> {
  const constants = files.flatMap(({ path, code }) =>
    [...code.matchAll(CONSTANT)].map(([, name = '']) => ({ name, path })),
  );
  const found = new Map<string, readonly string[]>();
  for (const { path, code } of files) {
    const isImported = (name: string): boolean =>
      new RegExp(String.raw`\bimport\b[^;]*\b${name}\b[^;]*from`).test(code);
    const own = constants.filter((one) => one.path === path || isImported(one.name));
    const named = own.flatMap(({ name }) => [
      ...code.matchAll(
        new RegExp(String.raw`[=!]== ${name}\b|\b${name} [=!]==|\.(?:${ASKING})\((?:\`\$\{)?${name}\b`, 'g'),
      ),
    ]);
    const all = [...FOUND.flatMap((pattern) => [...code.matchAll(pattern)]), ...named].map(([text]) => text);
    if (all.length > 0) found.set(path, all);
  }
  return found;
}
