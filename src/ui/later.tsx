/** A page whose script is fetched when it is first opened. */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from './language/language.ts';

export function later<Props extends object>(
  fetchPage: () => Promise<ComponentType<Props>>,
): (props: Props) => JSX.Element {
  let known: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [Page, setPage] = useState<ComponentType<Props> | undefined>(() => known);
    const [isLost, setLost] = useState(false);
    useEffect(() => {
      if (known !== undefined) return;
      const fetched = async (): Promise<void> => {
        try {
          const page = await fetchPage();
          known = page;
          setPage(() => page);
        } catch {
          // The agent is away, or a newer version with other files runs.
          setLost(true);
        }
      };
      void fetched();
    }, []);
    if (isLost) return <p role="alert">{t.app.offline}</p>;
    return Page === undefined ? <p class="quiet">{t.common.loading}</p> : <Page {...props} />;
  };
}
