/** Step 3: the recovery kit is stored elsewhere. It may be put off; a banner reminds of it until then. */
import type { JSX } from 'preact';
import { useState, useEffect } from 'preact/hooks';
import type { RecoveryKit } from '../../../api/schemas/page/protect.ts';
import { addressOf, ask, AskError } from '../../agent/ask.ts';
import { useOverviewAgain } from '../../agent/overview.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Checkbox } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { Notice } from '../../components/tag.tsx';
import { formatDay } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { NotByKit, useNotByKit } from '../../parts/not-by-kit.tsx';
import { StepHead } from './step-head.tsx';

const KIT_TEXT = '/recovery-kit/text';

export function KeepKit({
  adopted,
  onBack,
  onNext,
}: {
  /** The chosen place, where another computer's kit opens the repository. */
  readonly adopted: string | undefined;
  readonly onBack: () => void;
  readonly onNext: () => void;
}): JSX.Element {
  const known = useNotByKit();
  const others = adopted === undefined ? known : [...known, adopted];
  const kit = useAsked((signal) => ask<RecoveryKit>('GET', '/recovery-kit', { signal }), []);
  const again = useOverviewAgain();
  const [isStored, setStored] = useState(false);
  const confirm = useAction(async () => {
    await ask<RecoveryKit>('POST', '/recovery-kit/confirm');
    again();
    onNext();
  });
  const texts = t.firstRun.kit;
  const isUnsaved = kit.data?.state === 'unsaved';
  return (
    <Card label={texts.title}>
      <StepHead step="kit" title={texts.title} lead={others.length === 0 ? texts.lead : texts.leadOther} />
      <NotByKit places={others} />
      <Problem error={kit.problem} />
      {kit.data === undefined || isUnsaved ? (
        <>
          <KitCopies />
          <Checkbox
            name="kit-stored"
            label={texts.confirm}
            hint={texts.confirmHint}
            checked={isStored}
            disabled={!isUnsaved}
            onChecked={setStored}
          />
        </>
      ) : (
        <Notice look="good">
          <p>
            {kit.data.state === 'none'
              ? texts.none
              : texts.saved(kit.data.saved_at === null ? null : formatDay(kit.data.saved_at))}
          </p>
        </Notice>
      )}
      <Problem error={confirm.problem} />
      <Actions>
        {isUnsaved || kit.data === undefined ? (
          <Button
            type="button"
            look="main-action"
            disabled={!isStored || confirm.isBusy}
            onClick={() => void confirm.run()}
          >
            {t.common.next}
          </Button>
        ) : (
          <Button type="button" look="main-action" onClick={onNext}>
            {t.common.next}
          </Button>
        )}
        <Button type="button" onClick={onBack}>
          {t.common.back}
        </Button>
        {isUnsaved || kit.problem !== undefined ? (
          <Button type="button" onClick={onNext}>
            {texts.later}
          </Button>
        ) : null}
      </Actions>
    </Card>
  );
}

function KitCopies(): JSX.Element {
  const [printed, setPrinted] = useState<string | undefined>(undefined);
  const print = useAction(async () => setPrinted(await kitText()));
  const texts = t.firstRun.kit;
  return (
    <>
      <Actions>
        <a class="button" href={addressOf(KIT_TEXT)} download="holdfast-recovery-kit.txt">
          {texts.download}
        </a>
        <Button type="button" disabled={print.isBusy} onClick={() => void print.run()}>
          {texts.print}
        </Button>
      </Actions>
      <Problem error={print.problem} />
      {printed === undefined ? null : <Printed text={printed} onDone={() => setPrinted(undefined)} />}
    </>
  );
}

/** The text of the kit, which is no reply of the usual form. @throws {AskError} */
async function kitText(): Promise<string> {
  const response = await fetch(addressOf(KIT_TEXT), { credentials: 'same-origin', cache: 'no-store' });
  const text = await response.text();
  if (!response.ok) throw new AskError('INTERNAL_ERROR', response.status, text, {});
  return text;
}

/** Prints a text. `onDone` is called when the print dialog has closed, whatever the user did there. */
function Printed({ text, onDone }: { readonly text: string; readonly onDone: () => void }): JSX.Element {
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
