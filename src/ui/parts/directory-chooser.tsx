/** Chooses a directory of the machine that the agent runs on, by mouse, by arrow keys or by typing its path. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Directories } from '../../api/schemas/page/protect.ts';
import { ask, withQuery } from '../agent/ask.ts';
import { useAsked } from '../agent/use-asked.ts';
import { Actions, Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Checkbox, TextField } from '../components/field.tsx';
import { Own, visible } from '../components/own-text.tsx';
import { Problem } from '../components/problem.tsx';
import { t } from '../language/language.ts';

export interface DirectoryChooserFacts {
  readonly title: string;
  /** Where to start; default: the user's home directory. */
  readonly start?: string | undefined;
  readonly onChoose: (path: string) => void;
  /** Called whenever it is closed, also after `onChoose`. */
  readonly onClose: () => void;
}

type Item = Directories['items'][number];

export function DirectoryChooser({ title, start, onChoose, onClose }: DirectoryChooserFacts): JSX.Element {
  const [place, setPlace] = useState(start);
  const [typed, setTyped] = useState(start ?? '');
  const [isHiddenShown, setHiddenShown] = useState(false);
  const { data, problem, isBusy } = useAsked(
    (signal) => ask<Directories>('GET', withQuery('/directories', { path: place }), { signal }),
    [place],
  );
  useEffect(() => {
    if (data !== undefined) setTyped(data.path);
  }, [data]);
  const items = data?.items.filter(({ hidden }) => isHiddenShown || !hidden) ?? [];
  const choose = (): void => {
    if (data === undefined) return;
    onChoose(data.path);
    onClose();
  };
  const isElsewhere = data !== undefined && typed.trim() !== data.path;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="chooser-place"
        onSubmit={(event) => {
          event.preventDefault();
          setPlace(typed.trim() === '' ? undefined : typed.trim());
        }}
      >
        <TextField
          name="chooser-folder"
          label={t.parts.chooser.folder}
          value={typed}
          maxLength={4096}
          onValue={setTyped}
        />
        <div class="chooser-ways">
          {isElsewhere ? <Button look="plain">{t.parts.chooser.open}</Button> : null}
          <Button
            type="button"
            look="plain"
            disabled={(data?.parent ?? null) === null}
            onClick={() => setPlace(data?.parent ?? undefined)}
          >
            {t.parts.chooser.up}
          </Button>
          <Button
            type="button"
            look="plain"
            disabled={data === undefined || data.path === data.home}
            onClick={() => setPlace(data?.home)}
          >
            {t.parts.chooser.home}
          </Button>
        </div>
      </form>
      <Problem error={problem} />
      <DirectoryList
        items={items}
        path={data?.path}
        isBusy={isBusy}
        onOpen={setPlace}
        onUp={() => {
          if (typeof data?.parent === 'string') setPlace(data.parent);
        }}
      />
      {data?.is_cut === true ? <p class="small-text">{t.parts.chooser.isCut}</p> : null}
      <Checkbox
        name="chooser-hidden"
        label={t.parts.chooser.showHidden}
        checked={isHiddenShown}
        onChecked={setHiddenShown}
      />
      <Actions>
        <Button
          type="button"
          look="main-action"
          disabled={data === undefined || problem !== undefined || isBusy || isElsewhere}
          onClick={choose}
        >
          {t.parts.chooser.choose}
        </Button>
      </Actions>
    </Dialog>
  );
}

/** The list is one stop of the Tab key; arrow keys move within it. */
function DirectoryList({
  items,
  path,
  isBusy,
  onOpen,
  onUp,
}: {
  readonly items: readonly Item[];
  /** The directory that contains the items. */
  readonly path: string | undefined;
  readonly isBusy: boolean;
  readonly onOpen: (path: string) => void;
  readonly onUp: () => void;
}): JSX.Element {
  const [current, setCurrent] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const hadFocus = useRef(false);
  const focus = (index: number): void => {
    const at = Math.max(0, Math.min(items.length - 1, index));
    setCurrent(at);
    list.current?.querySelectorAll('button')[at]?.focus();
  };
  useEffect(() => {
    setCurrent(0);
    // Keyboard users stay in the list.
    if (!hadFocus.current) return;
    hadFocus.current = false;
    const first = list.current?.querySelector('button') ?? list.current;
    first?.focus();
  }, [path]);
  const open = (to: string): void => {
    hadFocus.current = true;
    onOpen(to);
  };
  const moved = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      Home: 0,
      End: items.length - 1,
      PageDown: current + 10,
      PageUp: current - 10,
    };
    const to = steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      focus(to);
    } else if (event.key === 'Backspace') {
      event.preventDefault();
      hadFocus.current = true;
      onUp();
    }
  };
  return (
    <>
      <p class="unseen" role="status">
        {path === undefined || isBusy ? '' : t.parts.chooser.nowIn(visible(path), items.length)}
      </p>
      <p class="unseen" id="chooser-keys">
        {t.parts.chooser.keys}
      </p>
      <ul
        class="chooser-list"
        ref={list}
        tabIndex={items.length === 0 ? 0 : -1}
        aria-label={t.parts.chooser.inside}
        aria-describedby="chooser-keys"
        aria-busy={isBusy}
        onKeyDown={moved}
      >
        {items.map((item, index) => (
          <li key={item.path}>
            <button
              type="button"
              tabIndex={index === current ? 0 : -1}
              aria-disabled={!item.readable}
              onFocus={() => setCurrent(index)}
              onClick={() => {
                if (item.readable) open(item.path);
              }}
            >
              <FolderIcon />
              <Own>{item.name}</Own>
              {item.readable ? null : <small> ({t.parts.chooser.unreadable})</small>}
            </button>
          </li>
        ))}
        {items.length === 0 ? (
          <li class="chooser-empty">{path === undefined ? t.common.loading : t.parts.chooser.empty}</li>
        ) : null}
      </ul>
    </>
  );
}

function FolderIcon(): JSX.Element {
  return (
    <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" focusable="false">
      <path d="M2 5.5A1.5 1.5 0 0 1 3.5 4h4l2 2h7A1.5 1.5 0 0 1 18 7.5v7a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 2 14.5z" />
    </svg>
  );
}
