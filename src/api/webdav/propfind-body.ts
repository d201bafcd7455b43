/**
 * Reads the body of a PROPFIND with a small XML reader for property names and their namespaces, since nothing else
 * occurs in it.
 */

/** The name of a property. Both parts are as they were written, and are safe to put into XML again. */
export interface PropertyName {
  /** Escaped for XML; empty for no namespace. */
  readonly namespace: string;
  readonly name: string;
}

export type WantedProperties =
  | { readonly kind: 'all' | 'names' }
  | { readonly kind: 'these'; readonly names: readonly PropertyName[] };

export const DAV_NAMESPACE = 'DAV:';

/** More properties than any client asks for. Limited because each is answered for each entry of a folder. */
const MOST_PROPERTIES = 64;
/** Limit on the characters of all names and namespaces together, for the same reason. */
const MOST_CHARACTERS = 4_096;
/** Limit on nested elements. Each may define namespaces in addition to all those around it. */
const DEEPEST = 16;

/** The requested properties; all of them for an empty body. Undefined when the text is not the body of a PROPFIND. */
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

/** XML allows names with other letters, but no client uses them. */
const NAME = '[A-Za-z_][A-Za-z0-9._-]*';
const TOKEN = new RegExp(
  String.raw`<\?[^]*?\?>|<!--[^]*?-->|<(/?)(?:(${NAME}):)?(${NAME})((?:\s+[^\s=<>]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(/?)>|[^<]+`,
  'uy',
);
const ATTRIBUTE = new RegExp(String.raw`(?:\s)xmlns(?::(${NAME}))?\s*=\s*(?:"([^"<]*)"|'([^'<]*)')`, 'gu');

/** The root element; undefined unless the document is well-formed in the respects that matter here. */
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
  // Refuses numeric character references instead of decoding them, since no namespace contains any.
  if (written.some(([, value]) => /&(?!(?:amp|lt|gt|quot|apos);)/.test(value))) return undefined;
  const own = written.map(([bound, value]) => [bound, escaped(value)] as const);
  const scope: Scope = own.length === 0 ? around : { ...around, ...Object.fromEntries(own) };
  const namespace = Object.hasOwn(scope, prefix) ? scope[prefix] : prefix === '' ? '' : undefined;
  return namespace === undefined ? undefined : { namespace, name, scope, children: [] };
}

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

/**
 * The rules of Namespaces in XML 1.0: a prefix is bound to a namespace that is not empty, and only once in an element;
 * `xml` and `xmlns` are reserved.
 */
function mayBind(bound: string, value: string, before: readonly (readonly [string, string])[]): boolean {
  if (bound !== '' && value === '') return false;
  if (bound === 'xmlns' || value === XMLNS_NAMESPACE) return false;
  if ((bound === 'xml') !== (value === XML_NAMESPACE)) return false;
  return !before.some(([other]) => other === bound);
}

/** Escapes an attribute value for use in the response: in ASCII, and without characters that could end it. */
function escaped(value: string): string {
  return value
    .replaceAll(/[\p{Cc}\p{Cs}\p{Cn}]/gu, '')
    .replaceAll(/["'>]|[^\p{ASCII}]/gu, (character) => `&#${character.codePointAt(0)};`);
}
