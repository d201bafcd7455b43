/** Shows whether the recovery kit is stored safely, and helps to bring it to a safe place. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { holdfast } from '../../agent/program.ts';
import type { RecoveryKit } from '../../../api/schemas/page/protect.ts';
import { addressOf, ask, askText } from '../../agent/ask.ts';
import { useOverviewAgain } from '../../agent/overview.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Problem } from '../../components/problem.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { NotByKit, useNotByKit } from '../../parts/not-by-kit.tsx';

export function RecoveryKitCard(): JSX.Element {
  const asked = useAsked((signal) => ask<RecoveryKit>('GET', '/recovery-kit', { signal }), []);
  const kit = asked.data;
  const others = useNotByKit();
  return (
    <Card title={t.encryption.kit}>
      <p>{t.encryption.kitWhat}</p>
      <NotByKit places={others} />
      <Problem error={asked.problem} />
      {kit === undefined && asked.isBusy ? <p class="quiet">{t.common.loading}</p> : null}
      {kit?.state === 'none' ? <p>{t.encryption.kitNone}</p> : null}
      {kit?.state === 'saved' ? <SavedKit kit={kit} /> : null}
      {kit?.state === 'unsaved' ? <UnsavedKit kit={kit} onSaved={asked.again} /> : null}
    </Card>
  );
}

function SavedKit({ kit }: { readonly kit: RecoveryKit }): JSX.Element {
  return (
    <>
      <p>
        <Tag look="good">{t.encryption.kitSaved}</Tag>{' '}
        {kit.saved_at === null ? null : t.encryption.kitSavedAt(formatTime(kit.saved_at))}
      </p>
      <p>{t.encryption.kitLost}</p>
      <pre>{holdfast`keys add --recovery-code`}</pre>
    </>
  );
}

function UnsavedKit({
  kit,
  onSaved,
}: {
  readonly kit: RecoveryKit;
  readonly onSaved: () => void;
}): JSX.Element {
  const overviewAgain = useOverviewAgain();
  /** The text is in the page only while it is shown or printed. */
  const [text, setText] = useState<string | undefined>(undefined);
  const [prints, setPrints] = useState(false);
  const read = useAction(async (forPrint: boolean) => {
    setText(await askText('/recovery-kit/text'));
    setPrints(forPrint);
  });
  useEffect(() => {
    if (!prints || text === undefined) return undefined;
    const over = (): void => {
      setPrints(false);
      setText(undefined);
    };
    addEventListener('afterprint', over, { once: true });
    print();
    return () => removeEventListener('afterprint', over);
  }, [prints, text]);
  const confirm = useAction(async () => {
    await ask('POST', '/recovery-kit/confirm', { body: {} });
    setText(undefined);
    onSaved();
    overviewAgain();
  });
  return (
    <>
      <p>
        <Tag look="warning">{t.encryption.kitUnsaved}</Tag>{' '}
        {kit.made_at === null ? null : t.encryption.kitMadeAt(formatTime(kit.made_at))}
      </p>
      <Actions>
        <a
          class="button main-action"
          href={addressOf('/recovery-kit/text')}
          download="holdfast-recovery-kit.txt"
        >
          {t.encryption.kitDownload}
        </a>
        <Button type="button" disabled={read.isBusy} onClick={() => void read.run(true)}>
          {t.encryption.kitPrint}
        </Button>
        {text === undefined ? (
          <Button type="button" disabled={read.isBusy} onClick={() => void read.run(false)}>
            {t.encryption.kitShow}
          </Button>
        ) : (
          <Button type="button" onClick={() => setText(undefined)}>
            {t.encryption.kitHide}
          </Button>
        )}
        <AskFirst label={t.encryption.kitConfirm} question={t.encryption.kitConfirmQuestion}>
          <Button
            type="button"
            look="main-action"
            disabled={confirm.isBusy}
            onClick={() => void confirm.run()}
          >
            {t.encryption.kitConfirmDo}
          </Button>
        </AskFirst>
      </Actions>
      <Problem error={read.problem ?? confirm.problem} />
      {text === undefined ? null : (
        <pre class="secret print-only-this" role="group" aria-label={t.encryption.kit}>
          {text}
        </pre>
      )}
    </>
  );
}
