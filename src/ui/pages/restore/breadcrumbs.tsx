import type { JSX } from 'preact';
import { Own } from '../../components/own-text.tsx';
import { t } from '../../language/language.ts';
import { crumbsOf, keyOf, type PathRef } from './path-ref.ts';
import { hrefOfPlace, type Place } from './place.ts';

/** The way to a directory; each part of it leads there. */
export function Breadcrumbs({
  place,
  directory,
}: {
  readonly place: Place;
  readonly directory: PathRef;
}): JSX.Element {
  const crumbs = crumbsOf(directory);
  return (
    <nav class="crumbs" aria-label={t.restore.folders}>
      <ol>
        {crumbs.map((crumb, index) => {
          const { path, path_b64: bytes } = crumb;
          return (
            <li key={keyOf(crumb)}>
              <a
                href={hrefOfPlace({ ...place, q: '', directory: { path, path_b64: bytes } })}
                aria-current={index === crumbs.length - 1 ? 'page' : undefined}
                aria-label={index === 0 ? t.restore.root : undefined}
              >
                <Own>{crumb.name}</Own>
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
