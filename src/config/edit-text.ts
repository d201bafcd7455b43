/**
 * Changes values in configuration text and leaves everything else alone: comments, order, indentation, line ends. Only
 * what is inside a removed or replaced value is lost. The text must be valid.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseTree, type Node } from 'jsonc-parser';
import { BugError, RequestError } from '../base/errors.ts';
import { shownKeyPath, type KeyPath } from './config-error.ts';
import { insertChild, removeChild, rendered } from './edit-container.ts';
import { nodeAt, valueOf } from './parse.ts';

/** As the index of an array: after its last item. */
export const APPEND = -1;

/**
 * Sets the value at `path`, and creates missing parents.
 * @throws {RequestError} when an index is beyond the end of its list
 */
export function setInText(text: string, path: KeyPath, value: unknown): string {
  const root = treeOf(text);
  let node = root;
  for (const [depth, segment] of path.entries()) {
    const next = segment === APPEND ? undefined : nodeAt(node, [segment]);
    if (next !== undefined) {
      node = next;
      continue;
    }
    const made = nested(path.slice(depth + 1), value);
    const way = path.slice(0, depth);
    if (typeof segment === 'string')
      return node.type === 'object'
        ? insertChild(text, node, childCount(node), { key: segment, value: made })
        : replaceNode(text, way, { [segment]: made });
    if (node.type !== 'array') return replaceNode(text, way, [made]);
    const index = segment === APPEND ? childCount(node) : segment;
    if (index !== childCount(node)) throw beyondEnd(path.slice(0, depth + 1), childCount(node));
    return insertChild(text, node, index, { value: made });
  }
  return changeValue(text, path, value);
}

/** Removes the value at `path`; returns the same text when there is none. */
export function removeFromText(text: string, path: KeyPath): string {
  const last = path.at(-1);
  const container = nodeAt(treeOf(text), path.slice(0, -1));
  if (container === undefined || last === undefined) return text;
  const index =
    container.type === 'array' && typeof last === 'number'
      ? last
      : (container.children ?? []).findIndex(({ children }) => children?.[0]?.value === last);
  return index < 0 || index >= childCount(container) ? text : removeChild(text, container, index);
}

function treeOf(text: string): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) throw new BugError('Configuration text was edited that is not valid');
  return root;
}

function childCount(node: Node): number {
  return node.children?.length ?? 0;
}

function nested(path: KeyPath, value: unknown): unknown {
  return path.reduceRight<unknown>(
    (inner, segment) => (typeof segment === 'number' ? [inner] : { [segment]: inner }),
    value,
  );
}

function beyondEnd(path: KeyPath, length: number): RequestError {
  return new RequestError('INVALID_REQUEST', `${shownKeyPath(path)} does not exist`, {
    hint:
      length === 0
        ? 'The list is empty: the next index is 0.'
        : `The last index is ${length - 1}; ${length} adds one.`,
  });
}

/** Between two objects or two lists only the differences are changed. */
function changeValue(text: string, path: KeyPath, value: unknown): string {
  const node = nodeAt(treeOf(text), path);
  if (node === undefined) return setInText(text, path, value);
  const old = valueOf(node);
  if (isDeepStrictEqual(old, value)) return text;
  if (isObject(old) && isObject(value)) return changeObject(text, path, old, value);
  if (Array.isArray(old) && Array.isArray(value)) return changeList(text, path, old, value);
  return replaceNode(text, path, value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function changeObject(
  text: string,
  path: KeyPath,
  old: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
): string {
  let changed = text;
  for (const key of Object.keys(old))
    if (!Object.hasOwn(value, key)) changed = removeFromText(changed, [...path, key]);
  for (const [key, item] of Object.entries(value)) changed = setInText(changed, [...path, key], item);
  return changed;
}

/**
 * The common beginning and end of both lists stay. Items in between are changed in pairs; the remaining ones are added
 * or removed.
 */
function changeList(text: string, path: KeyPath, old: readonly unknown[], value: readonly unknown[]): string {
  const most = Math.min(old.length, value.length);
  let start = 0;
  while (start < most && isDeepStrictEqual(old[start], value[start])) start += 1;
  let end = 0;
  while (end < most - start && isDeepStrictEqual(old.at(-1 - end), value.at(-1 - end))) end += 1;
  const oldEnd = old.length - end;
  const newEnd = value.length - end;
  const paired = Math.min(oldEnd, newEnd);
  let changed = text;
  for (let index = start; index < paired; index += 1)
    changed = changeValue(changed, [...path, index], value[index]);
  for (let index = oldEnd - 1; index >= paired; index -= 1)
    changed = removeFromText(changed, [...path, index]);
  for (let index = paired; index < newEnd; index += 1) {
    const container = nodeAt(treeOf(changed), path);
    if (container === undefined) throw new BugError('A list vanished while it was edited');
    changed = insertChild(changed, container, index, { value: value[index] });
  }
  return changed;
}

function replaceNode(text: string, path: KeyPath, value: unknown): string {
  const node = nodeAt(treeOf(text), path);
  if (node === undefined) throw new BugError('A value vanished while it was edited');
  return (
    text.slice(0, node.offset) + rendered(text, node.offset, value) + text.slice(node.offset + node.length)
  );
}
