/** Puts a counter into every block of JavaScript, and into each part of an expression that may be left out. */
import { parseAst } from 'vite';

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** The name in each module. */
const NAME = '$blocks';

/**
 * @param source the beginning of a call that gives the counters of the module; their number and `)` follow
 * @returns the code with as many lines as before
 */
export function withCounters(code: string, source: string): string {
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  let count = 0;
  const counter = (): string => {
    count += 1;
    return `${NAME}[${count - 1}]++`;
  };
  // Outer parts are visited first: they begin before the inner ones and end after them.
  const begin = (at: number, text: string): void => void before.set(at, (before.get(at) ?? '') + text);
  const end = (at: number, text: string): void => void after.set(at, text + (after.get(at) ?? ''));
  const countExpression = (node: SyntaxNode): void => {
    begin(node.start, `(${counter()},(`);
    end(node.end, '))');
  };
  const countStatement = (node: SyntaxNode): void => {
    if (node.type === 'BlockStatement') return;
    begin(node.start, `{${counter()};`);
    end(node.end, '}');
  };

  const visit = (node: SyntaxNode): void => {
    const part = (field: string): SyntaxNode | undefined => asNode(node[field]);
    switch (node.type) {
      case 'BlockStatement':
        begin(node.start + 1, `${counter()};`);
        break;
      case 'IfStatement': {
        const otherwise = part('alternate');
        if (otherwise === undefined) end(node.end, ` else {${counter()};}`);
        else countStatement(otherwise);
        countStatement(needed(part('consequent')));
        break;
      }
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        countStatement(needed(part('body')));
        break;
      case 'SwitchCase': {
        const [first] = nodesOf(node['consequent']);
        if (first !== undefined) begin(first.start, `${counter()};`);
        break;
      }
      case 'ArrowFunctionExpression': {
        const body = needed(part('body'));
        if (body.type !== 'BlockStatement') countExpression(body);
        break;
      }
      case 'ConditionalExpression':
        countExpression(needed(part('consequent')));
        countExpression(needed(part('alternate')));
        break;
      case 'LogicalExpression':
        countExpression(needed(part('right')));
        break;
      default:
    }
    for (const value of Object.values(node)) nodesOf(value).forEach(visit);
  };
  nodesOf(parseAst(code).body).forEach(visit);

  let text = `const ${NAME}=${source}${count});`;
  let at = 0;
  const offsets = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b);
  for (const offset of offsets) {
    text += code.slice(at, offset) + (after.get(offset) ?? '') + (before.get(offset) ?? '');
    at = offset;
  }
  return text + code.slice(at);
}

function nodesOf(value: unknown): readonly SyntaxNode[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.map(asNode).filter((node) => node !== undefined);
}

function asNode(value: unknown): SyntaxNode | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  return typeof value.type === 'string' ? (value as SyntaxNode) : undefined;
}

function needed(node: SyntaxNode | undefined): SyntaxNode {
  if (node === undefined) throw new Error('The syntax tree lacks a part that it must have.');
  return node;
}
