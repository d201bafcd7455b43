/** Tests whether a passphrase or recovery code opens a destination, without storing it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from '../../agent/ask.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Select, TextField } from '../../components/field.tsx';
import { Own, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';

export interface PassphraseCheckFacts {
  readonly destinations: readonly string[];
}

export function PassphraseCheckCard({ destinations }: PassphraseCheckFacts): JSX.Element {
  const [chosen, setChosen] = useState(destinations[0] ?? '');
  const [secret, setSecret] = useState('');
  const [answer, setAnswer] = useState<
    { readonly destination: string; readonly opens: boolean } | undefined
  >();
  const [isMissing, setMissing] = useState(false);
  const check = useAction(async () => {
    setAnswer(undefined);
    setMissing(secret === '');
    if (secret === '') return;
    const body = { destination: chosen, secret };
    const { opens } = await ask<{ readonly opens: boolean }>('POST', '/passphrase-check', { body });
    setAnswer({ destination: chosen, opens });
    if (opens) setSecret('');
  });
  return (
    <Card title={t.encryption.check}>
      <p>{t.encryption.checkWhat}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void check.run();
        }}
      >
        <Select
          name="passphrase-destination"
          label={t.encryption.destination}
          value={chosen}
          choices={destinations.map((name) => ({ value: name, label: visible(name) }))}
          onValue={setChosen}
        />
        <TextField
          name="passphrase-secret"
          type="password"
          label={t.encryption.secret}
          value={secret}
          maxLength={1_024}
          problem={isMissing ? t.encryption.secretMissing : undefined}
          onValue={setSecret}
        />
        <Button disabled={check.isBusy}>{check.isBusy ? t.encryption.checking : t.encryption.checkDo}</Button>
      </form>
      <div class="answer">
        {answer === undefined ? null : (
          <Notice look={answer.opens ? 'good' : 'bad'} urgent>
            <p>
              {answer.opens ? t.encryption.opens : t.encryption.opensNot} <Own>{answer.destination}</Own>
            </p>
          </Notice>
        )}
      </div>
      <Problem error={check.problem} />
    </Card>
  );
}
