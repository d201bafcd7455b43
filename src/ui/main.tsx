/** Signs in with the code in the address, if there is one, and shows the page. */
import { render, type JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ask, AskError, isSignedIn, onSignedOut } from './agent/ask.ts';
import { App } from './app.tsx';
import { keepLanguage, type Language, preferredLanguage, useLanguage, t } from './language/language.ts';
import { holdfast } from './agent/program.ts';
import { Card, PageHead } from './components/card.tsx';
import { Logo } from './components/frame.tsx';
import { Own } from './components/own-text.tsx';
import { Notice } from './components/tag.tsx';
import { tellClosed } from './parts/browser-notices.ts';
import { closeTab } from './tab.ts';

const CODE = /^#code=([\w-]+)$/;

/** Takes the sign-in code out of the address and the history before anything else is done. */
function takeCode(): string | null {
  const match = CODE.exec(location.hash);
  if (match !== null) history.replaceState(null, '', location.pathname);
  return match?.[1] ?? null;
}

async function signIn(code: string): Promise<string | undefined> {
  try {
    await ask('POST', '/session', { body: { code } });
    return undefined;
  } catch (error) {
    if (error instanceof AskError) return error.message;
    throw error;
  }
}

async function show(): Promise<void> {
  const root = document.getElementById('page');
  if (root === null) throw new Error('the document has no place for the page');
  const code = takeCode();
  const [problem] = await Promise.all([
    code === null ? undefined : signIn(code),
    useLanguage(preferredLanguage()),
  ]);
  const closed = (isWanted: boolean, why?: string): void => {
    closeTab(isWanted);
    render(<Closed problem={why} onSignedIn={app} />, root);
  };
  const app = (): void => {
    // Texts are read when they are rendered, so rendering again switches the language and keeps what was typed.
    render(<App onLanguage={(wanted) => void change(wanted)} onSignOut={() => closed(true)} />, root);
  };
  const change = async (wanted: Language): Promise<void> => {
    await useLanguage(wanted);
    keepLanguage(wanted);
    app();
  };
  onSignedOut(() => {
    tellClosed();
    closed(false);
  });
  if (problem === undefined) app();
  else closed(false, problem);
}

// A code that is put into the address of a page that is open already, such as an installed one, changes only its
// fragment, which loads nothing.
addEventListener('hashchange', () => {
  if (CODE.test(location.hash)) location.reload();
});

// Not awaited: the script of a language imports this one, and would wait for it while it waits for that.
void show();

/** Shown to users who are not signed in, until they come back to it signed in by another window. */
function Closed({
  problem,
  onSignedIn,
}: {
  readonly problem: string | undefined;
  readonly onSignedIn: () => void;
}): JSX.Element {
  useEffect(() => {
    const look = async (): Promise<void> => {
      if (await isSignedIn()) onSignedIn();
    };
    const came = (): void => void look();
    addEventListener('focus', came);
    return () => removeEventListener('focus', came);
  }, []);
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
