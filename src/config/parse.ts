/** Parses configuration text: JSON with comments and trailing commas. Every problem is reported with its place. */
import { createScanner, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import type { ConfigProblem, KeyPath } from './config-error.ts';
import { placeOf, problemAt } from './config-text.ts';

export interface ParsedText {
  /** The syntax tree with all positions; undefined when there are problems. */
  readonly root: Node | undefined;
  readonly value: unknown;
  readonly problems: readonly ConfigProblem[];
}

/** Most levels of objects and arrays. The schema has six, and the parser recurses for each level. */
const DEEPEST = 32;

/** Kinds of tokens, as numbered by jsonc-parser. */
export const TOKEN = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  space: 15,
  end: 17,
} as const;

export function parseText(text: string): ParsedText {
  if (text.trim() === '') {
    return failed(
      problemAt(
        text,
        0,
        'CONFIG_SYNTAX',
        'The file is empty',
        'Write {} to use the defaults for everything.',
      ),
    );
  }
  const tooDeep = findTooDeep(text);
  if (tooDeep !== undefined) {
    const hint = 'No setting has that many levels. Look for a bracket that is not closed.';
    return failed(
      problemAt(text, tooDeep, 'CONFIG_SYNTAX', `Brackets are nested more than ${DEEPEST} deep`, hint),
    );
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) return failed(syntaxProblem(text, error));
  if (root?.type !== 'object') {
    const what = 'The file does not hold an object';
    return failed(
      problemAt(text, root?.offset ?? 0, 'CONFIG_SYNTAX', what, 'Put everything between { and }.'),
    );
  }
  const problems = [...findDuplicates(text, root), ...findHalves(text, root)];
  return problems.length > 0
    ? { root: undefined, value: undefined, problems }
    : { root, value: valueOf(root), problems };
}

function failed(problem: ConfigProblem): ParsedText {
  return { root: undefined, value: undefined, problems: [problem] };
}

/**
 * The offset at which brackets nest too deep. Unlike the parser the scanner does not recurse. A closing bracket of the
 * wrong kind closes nothing, which is how the parser treats it as well.
 */
function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  const closers: number[] = [];
  for (;;) {
    const token: number = scanner.scan();
    if (token === TOKEN.end) return undefined;
    if (token === TOKEN.openBrace) closers.push(TOKEN.closeBrace);
    if (token === TOKEN.openBracket) closers.push(TOKEN.closeBracket);
    if (token === closers.at(-1)) closers.pop();
    if (closers.length > DEEPEST) return scanner.getTokenOffset();
  }
}

type SyntaxText = readonly [message: string, hint: string];

const SYNTAX: Readonly<Record<string, SyntaxText>> = {
  InvalidSymbol: [
    'This word does not exist in JSON',
    'Put text in double quotes; only true, false and null have none.',
  ],
  InvalidNumberFormat: ['This is not a number', 'Write 5 or 0.5, or put text in double quotes.'],
  UnexpectedEndOfNumber: ['This is not a number', 'Write 5 or 0.5, or put text in double quotes.'],
  PropertyNameExpected: ['The name of a setting is missing', 'Write it in double quotes: "name": value.'],
  ValueExpected: ['A value is missing', 'Write one, or remove the comma or name before it.'],
  ColonExpected: ['A colon is missing', 'Write a colon between name and value: "name": value.'],
  CommaExpected: ['A comma is missing', 'Put one at the end of the entry before.'],
  CloseBraceExpected: ['A } is missing', 'Close the object; perhaps the file was cut off.'],
  CloseBracketExpected: ['A ] is missing', 'Close the list; perhaps the file was cut off.'],
  EndOfFileExpected: ['There is something after the end', 'Remove what follows the last }.'],
  UnexpectedEndOfComment: ['A comment is not closed', 'Close it with */.'],
  UnexpectedEndOfString: ['A text is not closed', 'Put double quotes at its end; it cannot span lines.'],
  InvalidUnicode: ['A \\u escape is not complete', 'Write four hexadecimal digits after \\u.'],
  InvalidEscapeCharacter: ['This escape does not exist', 'Write a backslash as \\\\.'],
  InvalidCharacter: [
    'A text contains a control character',
    'Remove it, or write a tab as \\t and a line break as \\n.',
  ],
};

function syntaxProblem(text: string, { error, offset }: ParseError): ConfigProblem {
  const [message, hint] = SYNTAX[printParseErrorCode(error)] ?? ['This is not JSON', 'Correct the line.'];
  const nul = text.charCodeAt(offset) === 0;
  return nul
    ? problemAt(
        text,
        offset,
        'CONFIG_SYNTAX',
        'The file contains NUL bytes',
        'It is damaged or incomplete: replace it with a copy.',
      )
    : problemAt(text, offset, 'CONFIG_SYNTAX', message, hint);
}

/**
 * Finds lone surrogates in texts. All of them are stored as the same replacement character, so two different paths
 * would become one.
 */
function findHalves(text: string, node: Node): readonly ConfigProblem[] {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return [];
  const own: unknown = node.value;
  if (typeof own !== 'string') return (node.children ?? []).flatMap((child) => findHalves(text, child));
  if (own.isWellFormed()) return [];
  const message = 'A text contains half of a character (a lone surrogate)';
  return [
    problemAt(text, node.offset, 'CONFIG_SYNTAX', message, 'Write the full character, or leave it out.'),
  ];
}

/** The most duplicates that are reported; nobody reads more at once. */
const MOST_DUPLICATES = 20;

function findDuplicates(text: string, root: Node): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const visit = (node: Node): void => {
    const seen = new Map<string, number>();
    for (const child of node.children ?? []) {
      if (problems.length === MOST_DUPLICATES) return;
      if (node.type === 'object') {
        const [key, value] = child.children ?? [];
        const name = String(key?.value);
        const first = seen.get(name);
        if (first !== undefined) {
          const hint = `It is already in line ${placeOf(text, first).line}: keep one of them.`;
          problems.push(
            problemAt(text, child.offset, 'CONFIG_SYNTAX', `"${shortened(name)}" is given twice`, hint),
          );
        }
        seen.set(name, child.offset);
        if (value !== undefined) visit(value);
      } else visit(child);
    }
  };
  visit(root);
  return problems;
}

/** A name in a length that can be repeated in a message. */
export function shortened(name: string): string {
  return name.length > 40 ? `${name.slice(0, 39)}…` : name;
}

/** The plain value. A key `__proto__` is treated like any other. */
export function valueOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(valueOf);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(
    (node.children ?? []).map(({ children: [key, value] = [] }) => [
      String(key?.value),
      value === undefined ? undefined : valueOf(value),
    ]),
  );
}

/** The node of the value at `path`; undefined when it is not in the text. */
export function nodeAt(root: Node, path: KeyPath): Node | undefined {
  let node: Node | undefined = root;
  for (const segment of path) {
    if (node === undefined) return undefined;
    node =
      typeof segment === 'number'
        ? node.type === 'array'
          ? node.children?.[segment]
          : undefined
        : node.type === 'object'
          ? propertyOf(node, segment)?.children?.[1]
          : undefined;
  }
  return node;
}

export function propertyOf(object: Node, name: string): Node | undefined {
  return object.children?.find(({ children }) => children?.[0]?.value === name);
}
