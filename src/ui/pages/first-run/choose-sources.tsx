/** Step 1: choosing what to protect. Shows how much it is, and what is left out. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Estimate, Suggestions } from '../../../api/schemas/page/protect.ts';
import { useOverview } from '../../agent/overview.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Path } from '../../components/own-text.tsx';
import { Notice } from '../../components/tag.tsx';
import { formatBytes, formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { DirectoryChooser } from '../../parts/directory-chooser.tsx';
import type { Counted, Estimates } from './estimates.ts';
import { sumOf } from './estimates.ts';
import { type FirstPlan, isWithin, outermost, withAdded, withChosen } from './first-plan.ts';
import { StepHead } from './step-head.tsx';

export interface ChooseSourcesFacts {
  readonly plan: FirstPlan;
  readonly onPlan: (plan: FirstPlan) => void;
  readonly suggestions: Suggestions['sources'];
  readonly estimates: Estimates;
  readonly onNext: () => void;
}

export function ChooseSources(facts: ChooseSourcesFacts): JSX.Element {
  const { plan, onPlan, suggestions, estimates, onNext } = facts;
  const [isAdding, setAdding] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const { sources } = useOverview();
  const known = new Set(sources.map(({ path }) => path));
  const texts = t.firstRun.what;
  const offered = [...suggestions, ...plan.added.map((path) => ({ path, kind: 'own' }))];
  const chosen = outermost(plan.chosen);
  const sum = sumOf(chosen, estimates);
  const isNothing = chosen.length === 0;
  return (
    <Card label={texts.title}>
      <StepHead step="what" title={texts.title} lead={texts.lead} />
      <fieldset>
        <legend class="unseen">{texts.legend}</legend>
        <ul class="offered">
          {offered.map(({ path, kind }, index) => (
            <li key={path}>
              <Offer
                id={`offer-${index}`}
                path={path}
                kind={kind}
                isProtected={known.has(path)}
                isWithinOther={[...chosen, ...known].some((other) => isWithin(path, other))}
                isChosen={plan.chosen.includes(path)}
                counted={estimates.get(path)}
                onChosen={(isChosen) => onPlan(withChosen(plan, path, isChosen))}
              />
            </li>
          ))}
        </ul>
      </fieldset>
      <p class="with-total">
        <Button type="button" look="plain" aria-haspopup="dialog" onClick={() => setAdding(true)}>
          {texts.add}
        </Button>
        <span role="status">
          {sum === undefined ? '' : texts.total(formatBytes(sum.bytes), sum.isComplete)}
        </span>
      </p>
      <LeftOut estimates={chosen.flatMap((path) => found(estimates.get(path)))} />
      {isAsked && isNothing ? (
        <Notice look="warning" urgent>
          <p>{texts.nothing}</p>
        </Notice>
      ) : null}
      <Actions>
        <Button
          type="button"
          look="main-action"
          onClick={() => {
            setAsked(true);
            if (!isNothing) onNext();
          }}
        >
          {t.common.next}
        </Button>
      </Actions>
      {isAdding ? (
        <DirectoryChooser
          title={texts.addTitle}
          onChoose={(path) =>
            onPlan(
              withAdded(
                plan,
                path,
                suggestions.map((one) => one.path),
              ),
            )
          }
          onClose={() => setAdding(false)}
        />
      ) : null}
    </Card>
  );
}

function found(counted: Counted | undefined): readonly Estimate[] {
  return typeof counted === 'object' ? [counted] : [];
}

function Offer({
  id,
  path,
  kind,
  isProtected,
  isWithinOther,
  isChosen,
  counted,
  onChosen,
}: {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  readonly isProtected: boolean;
  /** Whether it is in another directory that is chosen. */
  readonly isWithinOther: boolean;
  readonly isChosen: boolean;
  readonly counted: Counted | undefined;
  readonly onChosen: (isChosen: boolean) => void;
}): JSX.Element {
  const texts = t.firstRun.what;
  const isSettled = isProtected || isWithinOther;
  return (
    <label class="offer" for={id}>
      <input
        type="checkbox"
        id={id}
        checked={isChosen || isSettled}
        disabled={isSettled}
        aria-describedby={`${id}-size`}
        onChange={({ currentTarget }) => onChosen(currentTarget.checked)}
      />
      <span class="offer-name">
        <strong>{texts.kinds[kind] ?? texts.kinds['own']}</strong>
        <Path>{path}</Path>
      </span>
      <span class="offer-size" id={`${id}-size`}>
        {isProtected ? texts.isProtected : isWithinOther ? texts.isWithin : null}
        <Size counted={counted} />
      </span>
    </label>
  );
}

function Size({ counted }: { readonly counted: Counted | undefined }): JSX.Element {
  const texts = t.firstRun.what;
  if (counted === undefined) return <small>{texts.waiting}</small>;
  if (counted === 'counting') return <small>{texts.counting}</small>;
  if (counted === 'uncounted') return <small>{texts.uncounted}</small>;
  const { bytes, files, complete, unreadable } = counted;
  return (
    <>
      <small>
        {complete
          ? texts.size(formatBytes(bytes), files, formatCount(files))
          : texts.atLeast(formatBytes(bytes))}
      </small>
      {unreadable === 0 ? null : <small>{texts.unreadable(unreadable, formatCount(unreadable))}</small>}
    </>
  );
}

/** How many paths that are left out are shown; most are not worth a line. */
const SHOWN_PATHS = 12;

function LeftOut({ estimates }: { readonly estimates: readonly Estimate[] }): JSX.Element {
  const texts = t.firstRun.what;
  const count = estimates.reduce((sum, { excluded_files: files }) => sum + files, 0);
  const excluded = estimates.flatMap((estimate) => estimate.excluded).slice(0, SHOWN_PATHS);
  return (
    <details class="left-out">
      <summary>{texts.leftOut}</summary>
      <p>{texts.leftOutLead}</p>
      <ul>
        {Object.values(texts.rules).map(([name, why]) => (
          <li key={name}>
            <strong>{name}</strong>
            {t.common.colon} {why}
          </li>
        ))}
      </ul>
      {excluded.length === 0 || count === 0 ? null : (
        <>
          <p>{texts.found(count, formatCount(count))}</p>
          <ul class="small-text">
            {excluded.map(({ path, reason }) => (
              <li key={path}>
                <Path>{path}</Path> <span class="quiet">({texts.reasons[reason]})</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </details>
  );
}
