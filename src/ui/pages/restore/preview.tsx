/** Shows the content of a file as far as it is fetched: as text, as a picture, or not at all. Its bytes tell which, as its name may say anything. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { fetchContent } from '../../agent/ask.ts';
import { type Asked, useAsked } from '../../agent/use-asked.ts';
import { visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { formatBytes } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { keyOf, pathQuery, type PathRef } from './path-ref.ts';

export function Preview({ facts }: { readonly facts: ContentFacts }): JSX.Element {
  const { data, problem, isBusy } = useContent(facts);
  if (problem !== undefined) return <Problem error={problem} />;
  if (data === undefined) return <p class="quiet">{isBusy ? t.common.loading : ''}</p>;
  if (data.kind === 'image') return <Picture content={data} />;
  if (data.kind === 'large-image') return <p class="quiet">{t.restore.imageTooLarge}</p>;
  if (data.kind === 'other') return <p class="quiet">{t.restore.noPreview}</p>;
  if (data.text === '') return <p class="quiet">{t.restore.emptyFile}</p>;
  return (
    <>
      <pre class="preview" tabIndex={0} role="region" aria-label={t.restore.contents}>
        {visibleText(data.text)}
      </pre>
      {data.isCut ? <p class="quiet">{t.restore.textCut(formatBytes(MOST_TEXT))}</p> : null}
    </>
  );
}

export function Picture({ content }: { readonly content: Content | undefined }): JSX.Element | null {
  const blob = useMemo(
    () => (content?.kind === 'image' ? new Blob([content.bytes], { type: content.type }) : undefined),
    [content],
  );
  const address = useBlobAddress(blob);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p class="quiet">{t.restore.noPreview}</p>;
  if (address === undefined) return null;
  return <img class="preview" src={address} alt={t.restore.picture} onError={() => setBroken(true)} />;
}

/** The text of a file with lines and tabs kept, and other invisible characters written out. */
export function visibleText(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}

/** Bytes of a text that are shown. */
const MOST_TEXT = 262_144;
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

/** An address of these bytes within this document, valid while the component is shown. */
export function useBlobAddress(blob: Blob | undefined): string | undefined {
  const [address, setAddress] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (blob === undefined) return undefined;
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => {
      setAddress(undefined);
      URL.revokeObjectURL(made);
    };
  }, [blob]);
  return address;
}

const IMAGE_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
] as const;
type ImageType = (typeof IMAGE_TYPES)[number];

type ContentKind =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly type: ImageType }
  | { readonly kind: 'other' };

/** Bytes that are enough to tell the kind. */
const HEAD_BYTES = 64;

/** Only pictures that cannot contain a script are taken for pictures. SVG files are text. */
export function kindOf(bytes: Uint8Array, isWhole: boolean): ContentKind {
  const type = imageType(bytes);
  if (type !== undefined) return { kind: 'image', type };
  const text = textOf(bytes, isWhole);
  return text === undefined ? { kind: 'other' } : { kind: 'text', text };
}

/** The text of bytes that are UTF-8; undefined when they are not. The last character may be cut off unless it is `isWhole`. */
function textOf(bytes: Uint8Array, isWhole: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function imageType(bytes: Uint8Array): ImageType | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, HEAD_BYTES));
  if (head.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (head.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF[\s\S]{4}WEBP/.test(head)) return 'image/webp';
  if (/^[\s\S]{4}ftypavi[fs]/.test(head)) return 'image/avif';
  return isBitmap(bytes) ? 'image/bmp' : undefined;
}

/** Texts may begin with the same two letters, so the size of the following header decides. */
const BITMAP_HEADERS = new Set([12, 40, 52, 56, 64, 108, 124]);

function isBitmap(bytes: Uint8Array): boolean {
  if (bytes.length < 18 || bytes[0] !== 0x42 || bytes[1] !== 0x4d) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint32(6, true) === 0 && BITMAP_HEADERS.has(view.getUint32(14, true));
}
