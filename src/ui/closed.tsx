import type { JSX } from 'preact';
import { holdfast } from './agent/program.ts';
import { Card, PageHead } from './components/card.tsx';
import { Logo } from './components/logo.tsx';
import { Own } from './components/own-text.tsx';
import { Notice } from './components/tag.tsx';
import { t } from './language/language.ts';

/** Shown to whoever is not signed in. */
export function Closed({ problem }: { readonly problem?: string | undefined }): JSX.Element {
  return (
    <main class="small">
      <div class="mark centered">
        <Logo size={48} />
      </div>
      {problem === undefined ? null : (
        <Notice look="bad" urgent>
          <p>
            <Own>{problem}</Own>
          </p>
        </Notice>
      )}
      <Card>
        <PageHead title={t.app.closedTitle} />
        <p>{t.app.closedHow}</p>
        <pre>{holdfast`ui`}</pre>
        <p class="quiet">{t.app.closedOnce}</p>
      </Card>
    </main>
  );
}
