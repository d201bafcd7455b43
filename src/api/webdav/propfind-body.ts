/** What a PROPFIND asks for. A small reader of XML, for names of properties and their namespaces: nothing else is in it. */

/** Of a property. Both are as they were written, and may stand in XML again. */
export interface PropertyName {
  /** Escaped; empty for none. */
  readonly namespace: string;
  readonly name: string;
}

export type WantedProperties =
  | { readonly kind: 'all' | 'names' }
  | { readonly kind: 'these'; readonly names: readonly PropertyName[] };

export const DAV_NAMESPACE = 'DAV:';

/** More than any client asks for: what is asked for is answered for each entry of a folder. */
const MOST_PROPERTIES = 64;
/** Characters of their names and namespaces together, for the same reason. */
const MOST_CHARACTERS = 4_096;
/** Of elements within each other. Each may have namespaces of its own, beside all those around it. */
const DEEPEST = 16;

/** Undefined when it is not the body of a PROPFIND. Without one, everything is asked for. */
export function parsePropfind(text: string): WantedProperties | undefined {
  if (text.trim() === '') return { kind: 'all' };
  const root = parseXml(text);
  if (root === undefined || !isDav(root, 'propfind')) return undefined;
  const inside = (name: string): Element | undefined => root.children.find((child) => isDav(child, name));
  if (inside('propname') !== undefined) return { kind: 'names' };
  const prop = inside('prop');
  if (prop === undefined) return inside('allprop') === undefined ? undefined : { kind: 'all' };
  if (prop.children.length > MOST_PROPERTIES) return undefined;
  const names = new Map(
    prop.children.map(({ namespace, name }) => [`${namespace} ${name}`, { namespace, name }]),
  );
  let characters = 0;
  for (const { namespace, name } of names.values()) characters += namespace.length + name.length;
  return characters > MOST_CHARACTERS ? undefined : { kind: 'these', names: [...names.values()] };
}

interface Element extends PropertyName {
  /** Namespaces by their prefixes. */
  readonly scope: Scope;
  readonly children: Element[];
}

type Scope = Readonly<Record<string, string>>;

function isDav({ namespace, name }: PropertyName, wanted: string): boolean {
  return namespace === DAV_NAMESPACE && name === wanted;
}

/** Names in other letters are allowed in XML, and nobody's. */
const NAME = '[A-Za-z_][A-Za-z0-9._-]*';
const TOKEN = new RegExp(
  String.raw`<\?[^]*?\?>|<!--[^]*?-->|<(/?)(?:(${NAME}):)?(${NAME})((?:\s+[^\s=<>]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(/?)>|[^<]+`,
  'uy',
);
const ATTRIBUTE = new RegExp(String.raw`(?:\s)xmlns(?::(${NAME}))?\s*=\s*(?:"([^"<]*)"|'([^'<]*)')`, 'gu');

/** The outermost element; undefined unless the document is well-formed as far as that matters here. */
function parseXml(text: string): Element | undefined {
  const document: Element = { namespace: '', name: '', scope: Object.create(null) as Scope, children: [] };
  const open: Element[] = [document];
  const tokens = new RegExp(TOKEN);
  tokens.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (tokens.lastIndex < text.length) {
    const found = tokens.exec(text);
    const parent = open.at(-1);
    if (found === null || parent === undefined) return undefined;
    const [, end, prefix = '', name, attributes = '', empty] = found;
    if (name === undefined) continue;
    if (end === '/') {
      if (open.length === 1 || name !== parent.name) return undefined;
      open.pop();
      continue;
    }
    const element = elementOf(prefix, name, attributes, parent.scope);
    if (element === undefined) return undefined;
    parent.children.push(element);
    if (empty === '/') continue;
    if (open.length === DEEPEST) return undefined;
    open.push(element);
  }
  return open.length === 1 && document.children.length === 1 ? document.children[0] : undefined;
}

function elementOf(prefix: string, name: string, attributes: string, around: Scope): Element | undefined {
  const written = [...attributes.matchAll(ATTRIBUTE)].map(
    ([, bound = '', double, single]): readonly [string, string] => [bound, double ?? single ?? ''],
  );
  if (!written.every(([bound, value], at) => mayBind(bound, value, written.slice(0, at)))) return undefined;
  // Numbers of characters would have to be looked at, and no namespace has any.
  if (written.some(([, value]) => /&(?!(?:amp|lt|gt|quot|apos);)/.test(value))) return undefined;
  const own = written.map(([bound, value]) => [bound, escaped(value)] as const);
  const scope: Scope = own.length === 0 ? around : { ...around, ...Object.fromEntries(own) };
  const namespace = Object.hasOwn(scope, prefix) ? scope[prefix] : prefix === '' ? '' : undefined;
  return namespace === undefined ? undefined : { namespace, name, scope, children: [] };
}

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

/** By Namespaces in XML 1.0: a prefix stands for something, for one thing, and two of them are taken. */
function mayBind(bound: string, value: string, before: readonly (readonly [string, string])[]): boolean {
  if (bound !== '' && value === '') return false;
  if (bound === 'xmlns' || value === XMLNS_NAMESPACE) return false;
  if ((bound === 'xml') !== (value === XML_NAMESPACE)) return false;
  return !before.some(([other]) => other === bound);
}

/** An attribute stands in the answer as it stood in the question, but in ASCII, and without what could end it. */
function escaped(value: string): string {
  return value
    .replaceAll(/[\p{Cc}\p{Cs}\p{Cn}]/gu, '')
    .replaceAll(/["'>]|[^\p{ASCII}]/gu, (character) => `&#${character.codePointAt(0)};`);
}
