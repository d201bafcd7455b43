import type { JSX } from 'preact';
import { PageHead } from '../../components/card.tsx';
import { t } from '../../language/language.ts';
import type { Route } from '../../route.ts';

export function PerformanceSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  return <PageHead title={t.settings.pages.performance} />;
}
