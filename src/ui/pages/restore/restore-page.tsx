/** Brings files back: shows them by time and by folder, what changed in one file, and restores. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Route } from '../../parts/route.ts';
import { BrowsePage } from './browse-page.tsx';
import { readPlace, readVersionsPlace, VERSIONS } from './place.ts';
import { RestoreJobPage } from './restore-job-page.tsx';
import { NOTHING, type Selection } from './selection.ts';
import { VersionsPage } from './versions-page.tsx';

export function RestorePage({ route }: { readonly route: Route }): JSX.Element {
  // The selection is kept while the versions of a file are shown.
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [, part] = route.path;
  if (part === VERSIONS) return <VersionsPage place={readVersionsPlace(route)} />;
  if (part !== undefined) return <RestoreJobPage key={part} id={part} />;
  return <BrowsePage place={readPlace(route)} selection={selection} onSelection={setSelection} />;
}
