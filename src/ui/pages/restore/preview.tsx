/** Shows the content of a file as text or as a picture, or says that it cannot be shown. Text is never interpreted. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Problem } from '../../components/problem.tsx';
import { formatBytes } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { type ContentFacts, MOST_TEXT, useContent, useImageAddress } from './use-content.ts';
import { visibleText } from './visible-text.ts';

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

export function Picture({
  content,
}: {
  readonly content: Parameters<typeof useImageAddress>[0];
}): JSX.Element | null {
  const address = useImageAddress(content);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p class="quiet">{t.restore.noPreview}</p>;
  if (address === undefined) return null;
  return <img class="preview" src={address} alt={t.restore.picture} onError={() => setBroken(true)} />;
}
