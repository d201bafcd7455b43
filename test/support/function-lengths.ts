/** How long functions are: their own lines of code, without comments, blank lines and those of functions within them. */
import { parseAst } from 'rolldown/parseAst';

export interface FunctionLength {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly lines: number;
}

interface Found extends FunctionLength {
  within: number;
}

const NO_CODE = /^\s*(?:$|\/\/|\/\*|\*)/;
const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** @param path by whose end it is known whether there is markup in it */
export function functionLengths(path: string, code: string): readonly FunctionLength[] {
  const tree = parseAst(code, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path);
  const starts = [...code.matchAll(/^/gm)].map(({ index }) => index);
  // 0 for the first line.
  const lineAt = (offset: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  let codeLines = 0;
  // How many lines of code there are up to each line, with it.
  const upTo = code.split('\n').map((line) => (codeLines += NO_CODE.test(line) ? 0 : 1));
  const linesIn = (first: number, last: number): number => (upTo[last] ?? 0) - (upTo[first - 1] ?? 0);
  const found: Found[] = [];
  const visit = (node: unknown, around: Found | undefined): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, around);
    if (typeof node !== 'object' || node === null || !('type' in node)) return;
    const { type, start, end } = node as { type: string; start: number; end: number };
    let now = around;
    if (FUNCTION.test(type)) {
      const lines = linesIn(lineAt(start), lineAt(end));
      // Its first and its last line belong to what is around it, too.
      if (around !== undefined) around.within += Math.max(0, lines - 2);
      now = { path, line: lineAt(start) + 1, lines, within: 0 };
      found.push(now);
    }
    for (const part of Object.values(node)) if (typeof part === 'object') visit(part, now);
  };
  visit(tree, undefined);
  return found.map(({ within, ...one }) => ({ ...one, lines: one.lines - within }));
}
