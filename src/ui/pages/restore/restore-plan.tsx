/** Names what is going to be restored and where to, before it happens. */
import type { JSX } from 'preact';
import { Path } from '../../components/own-text.tsx';
import { Facts } from '../../components/table.tsx';
import { t } from '../../language/language.ts';
import { PathList } from './path-list.tsx';
import { parentOf, type PathRef } from './path-ref.ts';
import { pathsOf, type RestoreDraft } from './restore-draft.ts';

/** How many paths are named: enough to recognise the choice, which an earlier step lists. */
const NAMED = 3;

export function RestorePlan({ draft }: { readonly draft: RestoreDraft }): JSX.Element {
  const paths = pathsOf(draft);
  return (
    <Facts
      rows={[
        [
          t.restore.steps.what,
          paths.length === 0 ? t.restore.whatAll : <PathList key="what" paths={paths} most={NAMED} />,
        ],
        [t.restore.steps.where, <Where key="where" draft={draft} paths={paths} />],
      ]}
    />
  );
}

/** A single entry goes back into a folder that can be named; several may go to different ones. */
function Where({
  draft: { isInPlace, target },
  paths,
}: {
  readonly draft: RestoreDraft;
  readonly paths: readonly PathRef[];
}): JSX.Element {
  const [only, ...others] = paths;
  if (!isInPlace) return <Path>{target.trim()}</Path>;
  return only === undefined || others.length > 0 ? (
    <>{t.restore.original}</>
  ) : (
    <Path>{parentOf(only).path}</Path>
  );
}
