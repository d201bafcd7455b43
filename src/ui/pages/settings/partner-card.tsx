/** Shows the Partner service that this machine is enrolled with, or enrols it. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Account } from '../../../api/schemas/page/settings.ts';
import { ask, type AskError } from '../../agent/ask.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { TextField } from '../../components/field.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { Notice, Tag } from '../../components/tag.tsx';
import { formatAge, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';

type Partner = NonNullable<Account['partner']>;

export function PartnerCard({
  partner,
  onLeft,
}: {
  readonly partner: Partner;
  readonly onLeft: () => void;
}): JSX.Element {
  const { account } = t;
  const leave = useAction(async () => {
    await ask('DELETE', '/account/enrollment');
    onLeft();
  });
  return (
    <Card title={account.partner}>
      {partner.problem === null ? null : (
        <Notice look="warning">
          <p>{account.reportProblems[partner.problem]}</p>
        </Notice>
      )}
      <Facts rows={factsOf(partner)} />
      <Actions>
        <AskFirst label={account.leave} look="danger" question={account.leaveQuestion}>
          <Button type="button" look="danger" disabled={leave.isBusy} onClick={() => void leave.run()}>
            {account.leaveDo}
          </Button>
        </AskFirst>
      </Actions>
      <Problem error={leave.problem} />
    </Card>
  );
}

function factsOf(partner: Partner): readonly (readonly [ComponentChildren, ComponentChildren])[] {
  const { account } = t;
  const { status, grace_until: grace, plan_expires_at: expires, last_report_at: reported } = partner;
  return [
    [account.service, <Own key="service">{partner.service}</Own>],
    [account.deviceName, <Own key="name">{partner.name}</Own>],
    ...(status === null
      ? []
      : [
          [
            account.standing,
            <Tag key="standing" look={status === 'active' ? 'good' : 'warning'}>
              {account.standings[status]}
            </Tag>,
          ] as const,
        ]),
    [account.enrolledAt, formatTime(partner.enrolled_at)],
    [account.lastReport, reported === null ? t.common.never : formatAge(reported)],
    [account.waiting, formatCount(partner.results_waiting)],
    ...(expires === null ? [] : [[account.planUntil, formatTime(expires)] as const]),
    ...(grace === null ? [] : [[account.graceUntil, formatTime(grace)] as const]),
    [account.device, <Own key="device">{partner.device_id}</Own>],
    [account.customer, <Own key="customer">{partner.customer_id}</Own>],
  ];
}

export function EnrollCard({ onEnrolled }: { readonly onEnrolled: () => void }): JSX.Element {
  const { account } = t;
  const [service, setService] = useState('');
  const [token, setToken] = useState('');
  const [name, setName] = useState('');
  const [isTried, setTried] = useState(false);
  const enroll = useAction(async () => {
    setTried(true);
    if (service.trim() === '' || token.trim() === '') return;
    const named = name.trim() === '' ? {} : { name: name.trim() };
    await ask('POST', '/account/enroll', {
      body: { service: service.trim(), token: token.trim(), ...named },
    });
    setToken('');
    onEnrolled();
  });
  const missing = (text: string): string | undefined =>
    isTried && text.trim() === '' ? account.missing : undefined;
  return (
    <Card title={account.partner}>
      <p>{account.partnerWhat}</p>
      <details class="enroll">
        <summary>{account.enroll}</summary>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void enroll.run();
          }}
        >
          <TextField
            name="enroll-service"
            type="url"
            label={account.service}
            placeholder="https://"
            value={service}
            problem={missing(service)}
            onValue={setService}
          />
          <TextField
            name="enroll-token"
            type="password"
            label={account.token}
            hint={account.tokenHint}
            value={token}
            maxLength={256}
            problem={missing(token)}
            onValue={setToken}
          />
          <TextField
            name="enroll-name"
            label={account.deviceName}
            hint={account.deviceNameHint}
            optional={t.common.optional}
            maxLength={100}
            value={name}
            onValue={setName}
          />
          <Button look="main-action" disabled={enroll.isBusy}>
            {enroll.isBusy ? account.enrolling : account.enrollDo}
          </Button>
        </form>
        {enroll.problem === undefined ? null : <EnrollProblem error={enroll.problem} />}
      </details>
    </Card>
  );
}

/** Error codes that are usually about storage are about the service here, so the reason counts. */
export function EnrollProblem({
  error,
}: {
  readonly error: Pick<AskError, 'code' | 'details' | 'message'>;
}): JSX.Element {
  const { reason } = error.details;
  const words: Readonly<Partial<Record<string, string>>> = t.account.enrollProblems;
  const said = error.code === 'OFFLINE' ? t.problems[error.code] : words[String(reason)];
  return (
    <Notice look="bad" urgent>
      <div>
        <p>{t.account.enrollFailed}</p>
        <p>{said ?? <Own>{error.message}</Own>}</p>
      </div>
    </Notice>
  );
}
