/**
 * The script of the product's own page, as the browser gets it. What comes from the agent is put into the document as
 * text only. Nothing is kept in the browser but the session's cookie, which the script cannot read.
 */

export const PAGE_SCRIPT = String.raw`'use strict';
{
  const BASE = '/internal/v1';
  const CALM_MS = 5000;
  const BUSY_MS = 1500;
  const at = (id) => document.getElementById(id);
  let timer;
  let signedIn = false;

  // The code leaves the address and the history before anything else is done.
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (location.hash !== '') history.replaceState(null, '', location.pathname);

  async function ask(method, path, body) {
    const response = await fetch(BASE + path, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
    const reply = await response.json();
    if (reply.success) return reply.data;
    throw Object.assign(new Error(reply.error.message), { status: response.status });
  }

  // Characters that would not be seen, or would turn the text around them, are written out.
  function visible(text) {
    return text.replace(/\p{C}|\p{Zl}|\p{Zp}/gu, (one) => {
      const number = one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
      return '\u27E8U+' + number + '\u27E9';
    });
  }

  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = visible(text);
    if (className !== undefined) element.className = className;
    return element;
  }

  function cell(className, ...children) {
    const element = make('td', undefined, className);
    element.append(...children);
    return element;
  }

  function row(...cells) {
    const element = make('tr');
    element.append(...cells);
    return element;
  }

  const STEPS = [[60, 'second'], [60, 'minute'], [24, 'hour'], [Infinity, 'day']];
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

  function when(text, now, none) {
    if (text === null) return make('span', none, 'quiet');
    let amount = (Date.parse(text) - now) / 1000;
    const [, unit] = STEPS.find(([size]) => {
      const fits = Math.abs(amount) < size;
      if (!fits) amount /= size;
      return fits;
    });
    const element = make('time', relative.format(Math.trunc(amount), unit));
    element.dateTime = text;
    element.title = new Date(text).toLocaleString();
    return element;
  }

  function bytes(amount) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (amount >= 1024 && unit < units.length - 1) {
      amount /= 1024;
      unit += 1;
    }
    return amount.toFixed(unit === 0 || amount >= 100 ? 0 : 1) + ' ' + units[unit];
  }

  const TYPES = { backup: 'Backup', restore: 'Restore', check: 'Check', prune: 'Prune', drill: 'Trial restore' };

  function outcome(job) {
    const parts = [];
    if (job.status === 'running') {
      const bar = make('progress');
      if (job.percent !== null) {
        bar.max = 100;
        bar.value = job.percent;
      }
      bar.setAttribute('aria-label', 'Progress');
      parts.push(bar);
      if (job.percent !== null) parts.push(make('span', ' ' + Math.floor(job.percent) + ' %', 'quiet'));
    } else if (job.status === 'completed' && job.result === 'warning') {
      parts.push(make('span', 'Done, ' + job.warnings_count + (job.warnings_count === 1 ? ' warning' : ' warnings'), 'warning'));
    } else if (job.status === 'completed') {
      parts.push(make('span', 'Done', 'good'));
    } else if (job.status === 'failed') {
      parts.push(make('span', 'Failed', 'bad'));
    } else {
      parts.push(make('span', job.status === 'queued' ? 'Waiting' : 'Canceled', 'quiet'));
    }
    if (job.error !== null) parts.push(make('small', job.error));
    return parts;
  }

  function jobRow(job, now) {
    const what = [make('span', TYPES[job.type] || job.type)];
    if (job.source !== null) {
      const small = make('small');
      small.append(make('bdi', job.source), ' to ', make('bdi', job.destination));
      what.push(small);
    }
    return row(
      cell('path', ...what),
      cell('outcome', ...outcome(job)),
      cell(undefined, when(job.finished_at || job.created_at, now, '')),
      cell('number', job.files.toLocaleString('en')),
      cell('number', bytes(job.size_bytes)),
    );
  }

  function sourceRow(source, now) {
    const good = when(source.last_good_backup_at, now, 'never');
    if (source.overdue || source.last_good_backup_at === null) good.className = 'bad';
    return row(
      cell('path', make('bdi', source.path)),
      cell(undefined, good),
      cell(undefined, when(source.next_run_at, now, '')),
      cell('path', make('bdi', source.destination)),
    );
  }

  function show(overview) {
    const now = Date.parse(overview.time);
    at('version').textContent = overview.version;
    const sentence = at('sentence');
    sentence.className = overview.level;
    if (sentence.textContent !== visible(overview.sentence)) sentence.textContent = visible(overview.sentence);
    at('sources').replaceChildren(...overview.sources.map((source) => sourceRow(source, now)));
    at('no-sources').hidden = overview.sources.length > 0;
    at('jobs').replaceChildren(...overview.jobs.map((job) => jobRow(job, now)));
    at('no-jobs').hidden = overview.jobs.length > 0;
    turn(true);
  }

  function turn(open) {
    signedIn = open;
    at('open').hidden = !open;
    at('sign-out').hidden = !open;
    at('closed').hidden = open;
  }

  function tell(text) {
    at('notice').textContent = visible(text);
    at('notice').hidden = text === '';
  }

  async function refresh() {
    clearTimeout(timer);
    let waitMs = CALM_MS;
    try {
      const overview = await ask('GET', '/overview');
      show(overview);
      tell('');
      if (overview.jobs.some((job) => job.status === 'running')) waitMs = BUSY_MS;
    } catch (error) {
      if (error.status === 401) {
        turn(false);
        return;
      }
      tell(error.status === undefined ? 'The agent does not answer. It may have stopped.' : error.message);
    }
    timer = setTimeout(refresh, waitMs);
  }

  at('sign-out').addEventListener('click', async () => {
    clearTimeout(timer);
    try {
      await ask('DELETE', '/session');
      turn(false);
    } catch (error) {
      tell(error.message);
    }
  });

  document.addEventListener('visibilitychange', () => {
    if (!signedIn) return;
    if (document.hidden) clearTimeout(timer);
    else refresh();
  });

  async function begin() {
    let refusal = '';
    if (code !== null) {
      await ask('POST', '/session', { code }).catch((error) => {
        refusal = error.message;
      });
    }
    await refresh();
    // An older session may still be good: the page is open then.
    if (refusal !== '' && !signedIn) tell(refusal);
  }

  begin();
}
`;
