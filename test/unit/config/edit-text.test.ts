import * as fc from 'fast-check';
import { createScanner, parse, parseTree, visit, type Node } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { APPEND, removeFromText, setInText } from '../../../src/config/edit-text.ts';
import { valueOf } from '../../../src/config/parse.ts';
import type { KeyPath } from '../../../src/config/config-error.ts';

const TEXT = `// top
{
  // the plan
  "plan": "pro", // paid
  "sources": [
    { "path": "/a", "tags": ["x", "y"] }, // first
    // second
    {
      "path": "/b", /* why */
    },
  ],
  "listen": {},
  // "old": 1
}
// end
`;

describe('setting a value', () => {
  test('replaces it where it stands', () => {
    expect(setInText(TEXT, ['plan'], 'business')).toBe(TEXT.replace('"pro"', '"business"'));
  });

  test('adds a setting behind the last one and its comment, indented as the others are', () => {
    const text = '{\n    "a": 1 // one\n    // below\n}\n';
    expect(setInText(text, ['b'], { c: [true] })).toBe(
      '{\n    "a": 1, // one\n    "b": {\n        "c": [\n            true\n        ]\n    }\n    // below\n}\n',
    );
  });

  test('keeps the trailing comma of those who write one', () => {
    expect(setInText('{\n  "a": 1, // x\n}', ['b'], 2)).toBe('{\n  "a": 1, // x\n  "b": 2,\n}');
  });

  test('makes what is missing on the way', () => {
    expect(setInText(TEXT, ['listen', 'port'], 1)).toContain('  "listen": {\n    "port": 1\n  },');
    expect(parse(setInText(TEXT, ['log', 'level'], 'warn'))).toMatchObject({ log: { level: 'warn' } });
    expect(setInText('{"a": null}', ['a', 'b'], 1)).toBe('{"a": {\n  "b": 1\n}}');
  });

  test('adds to lists of one line and of many', () => {
    expect(setInText(TEXT, ['sources', 0, 'tags', APPEND], 'z')).toContain('["x", "y", "z"] }, // first');
    expect(setInText(TEXT, ['sources', 2], { path: '/c' })).toContain(
      '      "path": "/b", /* why */\n    },\n    {\n      "path": "/c"\n    },\n  ],',
    );
    expect(() => setInText(TEXT, ['sources', 3], {})).toThrow('sources[3] does not exist');
  });

  test('changes only what differs inside lists and objects', () => {
    const changed = setInText(
      TEXT,
      ['sources'],
      [
        { path: '/a', tags: ['x', 'w', 'y'] },
        { path: '/c', watch: false },
      ],
    );
    expect(changed).toContain('["x", "w", "y"] }, // first\n    // second\n');
    expect(changed).toContain('"path": "/c", /* why */\n      "watch": false,\n');
  });

  test('keeps Windows line ends and tabs', () => {
    expect(setInText('{\r\n\t"a": 1\r\n}\r\n', ['b'], 2)).toBe('{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n');
  });
});

describe('removing a value', () => {
  test('takes its line out and leaves every comment', () => {
    expect(removeFromText(TEXT, ['plan'])).toBe(TEXT.replace('"plan": "pro", // paid', '// paid'));
    expect(removeFromText(TEXT, ['listen'])).toBe(TEXT.replace('  "listen": {},\n', ''));
    expect(removeFromText('{\n  "a": 1, // one\n  "b": 2\n}\n', ['b'])).toBe('{\n  "a": 1 // one\n}\n');
  });

  test('leaves neat lines', () => {
    expect(removeFromText('{"a": 1, "b": 2}', ['a'])).toBe('{"b": 2}');
    expect(removeFromText('{"a": 1, "b": 2}', ['b'])).toBe('{"a": 1}');
    expect(removeFromText('{"a": 1}', ['a'])).toBe('{}');
    expect(removeFromText('["x", "y", "z"]', [1])).toBe('["x", "z"]');
  });

  test('of something that is not there changes nothing', () => {
    for (const path of [['no'], ['plan', 'x'], ['sources', 9], ['sources', 'x'], []])
      expect(removeFromText(TEXT, path)).toBe(TEXT);
  });
});

const scalar = fc.oneof(
  fc.nat(99),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('x', '// no comment', '/*', '"', ','),
);
const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const anyObject = fc.dictionary(key, anyValue, { maxKeys: 4, noNullPrototype: true });

interface Commented {
  readonly text: string;
  readonly value: unknown;
}

/** Text of an object with numbered comments anywhere between its tokens, in any layout. */
const commented: fc.Arbitrary<Commented> = fc
  .tuple(anyObject, fc.constantFrom(0, 2, 4), fc.boolean(), fc.boolean(), fc.infiniteStream(fc.nat(11)))
  .map(([value, indent, trailing, windows, choices]) => {
    let number = 0;
    const space = (): string => {
      const choice = choices.next().value ?? 11;
      number += 1;
      if (choice === 0) return ` // c${number}.\n`;
      if (choice === 1) return `/* c${number}. */`;
      if (choice === 2) return `\n/* c${number}.\n */\n`;
      if (choice === 3) return '\n';
      return choice === 4 ? ' ' : '';
    };
    const plain = JSON.stringify(value, null, indent);
    let text = space();
    let last = '';
    const scanner = createScanner(plain, false);
    for (let token: number = scanner.scan(); token !== 17; token = scanner.scan()) {
      const piece = plain.slice(scanner.getTokenOffset(), scanner.getPosition());
      if (token === 14 || token === 15) {
        text += piece;
        continue;
      }
      if ((token === 2 || token === 4) && trailing && last !== '{' && last !== '[') text += ',';
      last = piece;
      text += piece + space();
    }
    return { text: windows ? text.replaceAll('\n', '\r\n') : text, value };
  });

function comments(
  text: string,
  except?: { readonly offset: number; readonly length: number },
): readonly string[] {
  const found: string[] = [];
  visit(text, {
    onComment: (offset, length) => {
      const inside =
        except !== undefined && offset >= except.offset && offset < except.offset + except.length;
      if (!inside) found.push(text.slice(offset, offset + length).trim());
    },
  });
  return found;
}

function treeOf(text: string): Node {
  const errors: never[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  expect([text, errors]).toEqual([text, []]);
  if (root === undefined) throw new Error(`not valid: ${text}`);
  return root;
}

function pathsIn(node: Node, path: KeyPath = []): readonly { readonly path: KeyPath; readonly node: Node }[] {
  const inner = (node.children ?? []).flatMap((child, index) => {
    if (node.type === 'array') return pathsIn(child, [...path, index]);
    const [name, value] = child.children ?? [];
    return value === undefined ? [] : pathsIn(value, [...path, String(name?.value)]);
  });
  return [{ path, node }, ...inner];
}

function withValue(old: unknown, path: KeyPath, value: unknown): unknown {
  const [segment, ...rest] = path;
  if (segment === undefined) return value;
  const copy: unknown = structuredClone(old);
  if (typeof copy !== 'object' || copy === null) throw new Error('no container');
  Reflect.set(copy, segment, withValue(Reflect.get(copy, segment), rest, value));
  return copy;
}

function without(old: unknown, path: KeyPath): unknown {
  const last = path.at(-1);
  const copy: unknown = structuredClone(old);
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((inner, segment) => Reflect.get(Object(inner), segment), copy);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else Reflect.deleteProperty(Object(parent), last ?? '');
  return copy;
}

describe('any edit of any text', () => {
  test('sets the value, changes no other, and keeps the comments around it in their order', () => {
    fc.assert(
      fc.property(commented, fc.nat(), anyValue, ({ text, value: old }, choice, value) => {
        const paths = pathsIn(treeOf(text)).filter(({ path }) => path.length > 0);
        fc.pre(paths.length > 0);
        const chosen = paths[choice % paths.length];
        if (chosen === undefined) return;
        const changed = setInText(text, chosen.path, value);
        expect(valueOf(treeOf(changed))).toEqual(withValue(old, chosen.path, value));
        const kept = comments(changed);
        const around = comments(text, chosen.node);
        expect(kept.filter((comment) => around.includes(comment))).toEqual(around);
      }),
      { numRuns: 1_000 },
    );
  });

  test('adds a value and keeps all comments in their order', () => {
    fc.assert(
      fc.property(commented, fc.nat(), anyValue, ({ text, value: old }, choice, value) => {
        const containers = pathsIn(treeOf(text)).filter(
          ({ node }) => node.type === 'array' || node.type === 'object',
        );
        const chosen = containers[choice % containers.length];
        if (chosen === undefined) return;
        const next = chosen.node.type === 'array' ? (chosen.node.children?.length ?? 0) : 'new';
        const changed = setInText(text, [...chosen.path, next], value);
        expect(valueOf(treeOf(changed))).toEqual(withValue(old, [...chosen.path, next], value));
        expect(comments(changed)).toEqual(comments(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test('removes a value and keeps the comments around it in their order', () => {
    fc.assert(
      fc.property(commented, fc.nat(), ({ text, value: old }, choice) => {
        const paths = pathsIn(treeOf(text)).filter(({ path }) => path.length > 0);
        fc.pre(paths.length > 0);
        const chosen = paths[choice % paths.length];
        if (chosen === undefined) return;
        const changed = removeFromText(text, chosen.path);
        expect(valueOf(treeOf(changed))).toEqual(without(old, chosen.path));
        const property = chosen.node.parent?.type === 'property' ? chosen.node.parent : chosen.node;
        expect(comments(changed)).toEqual(comments(text, property));
      }),
      { numRuns: 1_000 },
    );
  });

  test('back and forth gives the same values', () => {
    fc.assert(
      fc.property(commented, anyObject, ({ text, value: old }, value) => {
        const there = setInText(text, [], value);
        expect(valueOf(treeOf(there))).toEqual(value);
        expect(valueOf(treeOf(setInText(there, [], old)))).toEqual(old);
      }),
      { numRuns: 300 },
    );
  });
});

test('the comments that are compared are really there', () => {
  const found = fc.sample(commented, 100).flatMap(({ text }) => comments(text));
  expect(found.length).toBeGreaterThan(100);
});
