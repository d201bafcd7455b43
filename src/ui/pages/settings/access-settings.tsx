/** Manages credentials of programs that use the Desktop API, and shows the request limit. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { holdfast } from '../../agent/program.ts';
import type { Account, Credentials, NewCredential } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { TextField } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { CredentialRow, NewSecret } from './credentials.tsx';
import { LimitMeter } from './account-settings.tsx';

export function AccessSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  const { access } = t;
  const asked = useAsked((signal) => ask<Credentials>('GET', '/credentials', { signal }), []);
  const account = useAsked((signal) => ask<Account>('GET', '/account', { signal }), []);
  /** Kept only here, so it is gone when the page is left. */
  const [made, setMade] = useState<NewCredential | undefined>(undefined);
  const show = (credential: NewCredential): void => {
    setMade(credential);
    asked.again();
  };
  const items = asked.data?.items;
  return (
    <>
      <PageHead title={t.settings.pages.access}>
        {access.what} <a href="/docs">{access.docs}</a>
      </PageHead>
      <Problem error={asked.problem ?? account.problem} />
      {made === undefined ? null : <NewSecret made={made} onDone={() => setMade(undefined)} />}
      <Card title={access.credentials}>
        {items === undefined && asked.isBusy ? <p class="quiet">{t.common.loading}</p> : null}
        {items?.length === 0 ? (
          <Empty>
            <p>{access.noneYet}</p>
          </Empty>
        ) : null}
        {items === undefined || items.length === 0 ? null : (
          <ul class="job-rows">
            {items.map((credential) => (
              <CredentialRow
                key={credential.api_key}
                credential={credential}
                onMade={show}
                onRevoked={() => {
                  if (made?.api_key === credential.api_key) setMade(undefined);
                  asked.again();
                }}
              />
            ))}
          </ul>
        )}
      </Card>
      <NewCredentialCard onMade={show} />
      {account.data === undefined ? null : (
        <Card title={access.limit}>
          <p>{access.limitWhat}</p>
          <LimitMeter limit={account.data.rate_limit} />
        </Card>
      )}
      <Command
        lines={[
          holdfast`credentials create --name dashboard`,
          holdfast`credentials list`,
          ...(items?.[0] === undefined
            ? []
            : [
                holdfast`credentials rotate ${items[0].api_key}`,
                holdfast`credentials revoke ${items[0].api_key}`,
              ]),
        ]}
      />
    </>
  );
}

function NewCredentialCard({ onMade }: { readonly onMade: (made: NewCredential) => void }): JSX.Element {
  const { access } = t;
  const [name, setName] = useState('');
  const [isMissing, setMissing] = useState(false);
  const create = useAction(async () => {
    setMissing(name.trim() === '');
    if (name.trim() === '') return;
    onMade(await ask<NewCredential>('POST', '/credentials', { body: { name: name.trim() } }));
    setName('');
  });
  return (
    <Card title={access.create}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void create.run();
        }}
      >
        <TextField
          name="credential-name"
          label={access.name}
          hint={access.nameHint}
          maxLength={100}
          value={name}
          problem={isMissing ? access.nameMissing : undefined}
          onValue={setName}
        />
        <Button look="main-action" disabled={create.isBusy}>
          {access.createDo}
        </Button>
      </form>
      <Problem error={create.problem} />
    </Card>
  );
}
