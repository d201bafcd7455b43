/** Fetches the content of a file as far as it is shown: the beginning of a text, or a whole picture. */
import { useEffect, useState } from 'preact/hooks';
import { fetchContent } from '../../agent/content.ts';
import { type Asked, useAsked } from '../../agent/use-asked.ts';
import { type ContentKind, type ImageType, kindOf } from './content-kind.ts';
import { keyOf, type PathRef, pathQuery } from './path-ref.ts';

/** Bytes of a text that are shown. */
export const MOST_TEXT = 262_144;
/** Bytes of the largest picture that is shown. */
const MOST_IMAGE = 20_971_520;

export type Content =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'image'; readonly type: ImageType; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'large-image' }
  | { readonly kind: 'other' };

export interface ContentFacts extends PathRef {
  readonly snapshot: string;
  readonly size: number;
}

/** Without `facts`, nothing is fetched. Of texts, the first `mostText` bytes are. */
export function useContent(
  facts: ContentFacts | undefined,
  mostText = MOST_TEXT,
): Asked<Content | undefined> {
  return useAsked(
    async (signal) => (facts === undefined ? undefined : await contentOf(facts, mostText, signal)),
    [facts === undefined ? '' : `${facts.snapshot} ${facts.size} ${keyOf(facts)}`],
  );
}

async function contentOf(facts: ContentFacts, mostText: number, signal: AbortSignal): Promise<Content> {
  const { snapshot, size } = facts;
  if (size === 0) return { kind: 'text', text: '', isCut: false };
  const asked = { snapshot, path: pathQuery(facts) };
  const bytes = await fetchContent(asked, mostText, signal);
  const isWhole = bytes.length >= size;
  const found: ContentKind = kindOf(bytes, isWhole);
  if (found.kind === 'other') return found;
  if (found.kind === 'text') return { kind: 'text', text: found.text, isCut: !isWhole };
  if (size > MOST_IMAGE) return { kind: 'large-image' };
  const { type } = found;
  return { kind: 'image', type, bytes: isWhole ? bytes : await fetchContent(asked, size, signal) };
}

/** An address of the picture within this document, valid while the component is shown. */
export function useImageAddress(content: Content | undefined): string | undefined {
  const [address, setAddress] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (content?.kind !== 'image') return undefined;
    const made = URL.createObjectURL(new Blob([content.bytes], { type: content.type }));
    setAddress(made);
    return () => {
      setAddress(undefined);
      URL.revokeObjectURL(made);
    };
  }, [content]);
  return address;
}
