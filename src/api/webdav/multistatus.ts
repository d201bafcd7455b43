/**
 * Renders the response to a PROPFIND in batches of entries. It is pure ASCII: names of entries appear only in
 * percent-encoded URLs, so that none of their bytes can break the XML, and there are no display names.
 */
import type { ByteString } from '../../base/byte-path.ts';
import { DAV_NAMESPACE, type PropertyName, type WantedProperties } from './propfind-body.ts';
import { encodeNames } from './target.ts';
import type { EntryFacts, FoundEntry } from './tree.ts';

/**
 * The properties of entries, as XML values. The type of a file is missing on purpose: clients that derive it from the
 * name know it better than the agent.
 */
const PROPERTIES: Readonly<Record<string, (facts: EntryFacts) => string | undefined>> = {
  resourcetype: ({ isFolder }) => (isFolder ? '<D:collection/>' : ''),
  getcontentlength: ({ isFolder, size }) => (isFolder ? undefined : String(size)),
  getlastmodified: ({ modifiedMs }) => httpDate(modifiedMs),
  getetag: ({ etag }) => etag?.replaceAll('"', '&quot;'),
};

/** A time in the format of HTTP; undefined outside the years with four digits. */
export function httpDate(ms: number | undefined): string | undefined {
  if (ms === undefined || Number.isNaN(new Date(ms).getTime())) return undefined;
  const year = new Date(ms).getUTCFullYear();
  return year >= 1000 && year <= 9999 ? new Date(ms).toUTCString() : undefined;
}

/** @param base start of the URLs, without a trailing slash */
export async function* multistatus(
  entry: FoundEntry,
  {
    base,
    names,
    wanted,
    deep,
  }: {
    readonly base: string;
    readonly names: readonly ByteString[];
    readonly wanted: WantedProperties;
    /** Whether to include the entries of a folder. */
    readonly deep: boolean;
  },
): AsyncGenerator<string, void, undefined> {
  const address = `${base}${encodeNames(names)}`;
  const start = `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="${DAV_NAMESPACE}">\n`;
  let before = start + responseOf(address, entry.facts, wanted);
  if (deep && entry.kind === 'folder') {
    for await (const batch of entry.entries()) {
      const responses = batch.map((one) => responseOf(address + encodeNames([one.name]), one, wanted));
      yield before + responses.join('');
      before = '';
    }
  }
  yield `${before}</D:multistatus>\n`;
}

function responseOf(address: string, facts: EntryFacts, wanted: WantedProperties): string {
  const href = facts.isFolder ? `${address}/` : address;
  return `<D:response><D:href>${href}</D:href>${propertiesOf(facts, wanted)}</D:response>\n`;
}

function propertiesOf(facts: EntryFacts, wanted: WantedProperties): string {
  if (wanted.kind === 'these') return chosen(facts, wanted.names);
  const values = Object.entries(PROPERTIES).flatMap(([name, read]) => {
    const value = read(facts);
    if (value === undefined) return [];
    return wanted.kind === 'names' ? `<D:${name}/>` : `<D:${name}>${value}</D:${name}>`;
  });
  return propstat(values, '200 OK');
}

function chosen(facts: EntryFacts, names: readonly PropertyName[]): string {
  const known: string[] = [];
  const unknown: string[] = [];
  for (const { namespace, name } of names) {
    const isOurs = namespace === DAV_NAMESPACE && Object.hasOwn(PROPERTIES, name);
    const value = isOurs ? PROPERTIES[name]?.(facts) : undefined;
    if (value !== undefined) known.push(`<D:${name}>${value}</D:${name}>`);
    else unknown.push(`<${name} xmlns="${namespace}"/>`);
  }
  const good = known.length > 0 || unknown.length === 0 ? propstat(known, '200 OK') : '';
  return good + (unknown.length > 0 ? propstat(unknown, '404 Not Found') : '');
}

function propstat(properties: readonly string[], status: string): string {
  return `<D:propstat><D:prop>${properties.join('')}</D:prop><D:status>HTTP/1.1 ${status}</D:status></D:propstat>`;
}
