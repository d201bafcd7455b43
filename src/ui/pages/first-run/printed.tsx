/** Text that only the printer gets: on the screen the page stays as it is. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

/** `onDone` is told when the window for printing was closed, whatever was done there. */
export function Printed({
  text,
  onDone,
}: {
  readonly text: string;
  readonly onDone: () => void;
}): JSX.Element {
  useEffect(() => {
    document.documentElement.classList.add('prints-text');
    addEventListener('afterprint', onDone);
    window.print();
    return () => {
      removeEventListener('afterprint', onDone);
      document.documentElement.classList.remove('prints-text');
    };
  }, []);
  return <pre class="printed">{text}</pre>;
}
