import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createMetrics, type Metrics } from '../../../src/notify/metrics.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { restoreJob, sampleJob } from './sample-job.ts';

function created(): Metrics {
  return createMetrics({ clock: manualClock(), version: '1.2.3' });
}

/** Name with labels -> value, of the text format. */
async function valuesOf(metrics: Metrics): Promise<ReadonlyMap<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const target = { source: '/home/ada', destination: 'nas', lastSuccessAt: null };
const LAST_SUCCESS = 'backup_last_success_timestamp_seconds{source="/home/ada",destination="nas"}';

describe('metrics', () => {
  it('count jobs, bytes and durations, and remember the last good backup', async () => {
    const metrics = created();
    metrics.setTargets([target], ['nas']);
    expect((await valuesOf(metrics)).get(LAST_SUCCESS)).toBe(0);
    metrics.jobEnded(sampleJob());
    metrics.jobEnded(sampleJob({ status: 'failed', result: null, finished_at: 1_800_000_000_000 }));
    metrics.jobEnded(sampleJob({ result: 'warning', finished_at: 1_700_000_999_000 }));
    metrics.jobEnded(sampleJob({ status: 'canceled', result: null }));
    metrics.jobEnded(sampleJob({ status: 'running' }));
    metrics.jobEnded(restoreJob());
    metrics.setQueueLength(4);
    metrics.setDestinationUp('nas', false);
    const values = await valuesOf(metrics);
    expect(Object.fromEntries(values)).toMatchObject({
      [LAST_SUCCESS]: 1_700_000_999,
      'backup_jobs_total{type="backup",status="completed"}': 1,
      'backup_jobs_total{type="backup",status="warning"}': 1,
      'backup_jobs_total{type="backup",status="failed"}': 1,
      'backup_jobs_total{type="backup",status="canceled"}': 1,
      'backup_jobs_total{type="restore",status="completed"}': 1,
      'backup_jobs_total{type="drill",status="failed"}': 0,
      'backup_bytes_total{kind="processed"}': 2 * 5 * 2 ** 20,
      'backup_bytes_total{kind="uploaded"}': 2000,
      'backup_bytes_total{kind="deduplicated"}': 8000,
      'backup_bytes_total{kind="restored"}': 5 * 2 ** 20,
      'backup_job_duration_seconds_count{type="backup"}': 3,
      'backup_job_duration_seconds_sum{type="backup"}': 195,
      'backup_job_duration_seconds_bucket{le="60",type="backup"}': 0,
      'backup_job_duration_seconds_bucket{le="300",type="backup"}': 3,
      'backup_destination_up{destination="nas"}': 0,
      backup_queue_length: 4,
      'backup_agent_info{version="1.2.3"}': 1,
    });
  });

  it('do not take a dry run for a backup', async () => {
    const metrics = created();
    metrics.setTargets([target], ['nas']);
    const { spec } = sampleJob();
    if (spec.type !== 'backup') throw new Error('not a backup');
    metrics.jobEnded(sampleJob({ spec: { ...spec, options: { ...spec.options, dry_run: true } } }));
    const values = await valuesOf(metrics);
    expect(values.get(LAST_SUCCESS)).toBe(0);
    expect(values.get('backup_bytes_total{kind="uploaded"}')).toBe(0);
  });

  it('have series for what is in the settings only', async () => {
    const metrics = created();
    const before = (await valuesOf(metrics)).size;
    for (let request = 0; request < 1000; request += 1) {
      const { spec } = sampleJob();
      metrics.jobEnded(
        sampleJob({
          spec: { ...spec, source: `/tmp/${request}`, destination: `file:///${request}` } as typeof spec,
        }),
      );
      metrics.setDestinationUp(`file:///${request}`, true);
    }
    // The histogram of one more type of job.
    expect((await valuesOf(metrics)).size - before).toBe(13);
    metrics.setTargets([{ ...target, lastSuccessAt: 1_650_000_000_000 }], ['nas', 'cloud']);
    metrics.setDestinationUp('nas', true);
    metrics.setDestinationUp('cloud', true);
    expect((await valuesOf(metrics)).get(LAST_SUCCESS)).toBe(1_650_000_000);
    metrics.setTargets([], ['cloud']);
    const names = [...(await valuesOf(metrics)).keys()];
    expect(names.filter((name) => name.startsWith('backup_last_success'))).toEqual([]);
    expect(names.filter((name) => name.startsWith('backup_destination_up'))).toEqual([
      'backup_destination_up{destination="cloud"}',
    ]);
  });

  it('have no success of a source in a backup that left files of it out, or could read none', async () => {
    const metrics = created();
    metrics.setTargets([target], []);
    const { spec } = sampleJob();
    if (spec.type !== 'backup') throw new Error('it is a backup');
    metrics.jobEnded(sampleJob({ spec: { ...spec, options: { ...spec.options, exclude: ['*'] } } }));
    metrics.jobEnded(sampleJob({ result: 'warning', files_done: 0 }));
    expect((await valuesOf(metrics)).get(LAST_SUCCESS)).toBe(0);
    metrics.jobEnded(sampleJob({ result: 'warning' }));
    expect((await valuesOf(metrics)).get(LAST_SUCCESS)).toBeGreaterThan(0);
  });

  it('write names of files so that they cannot be taken for something else', async () => {
    const metrics = created();
    const source = 'a"} 1\nevil_total 5\n\\';
    metrics.setTargets([{ ...target, source }], []);
    const text = await metrics.text();
    expect(text).toContain(String.raw`{source="a\"} 1\nevil_total 5\n\\",destination="nas"} 0`);
    expect(text).not.toMatch(/^evil_total/m);
  });

  it('tell about the process, and keep nothing running for it', async () => {
    const before = process.getActiveResourcesInfo().length;
    const metrics = created();
    const values = await valuesOf(metrics);
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(values.get('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(values.get('nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000);
    expect(values.get('process_start_time_seconds')).toBeLessThan(1_700_000_000);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
    expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });
});

interface AlertRules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: object;
    }[];
  }[];
}

interface Dashboard {
  readonly panels: readonly { readonly id: number; readonly targets: readonly { readonly expr: string }[] }[];
}

describe('alert rules and dashboard', () => {
  const docs = path.resolve(import.meta.dirname, '../../../docs');
  const rules: AlertRules = parseYaml(readFileSync(path.join(docs, 'metrics/alerts.yml'), 'utf8'));
  const dashboard: Dashboard = JSON.parse(
    readFileSync(path.join(docs, 'metrics/grafana-dashboard.json'), 'utf8'),
  );
  const alerts = rules.groups.flatMap((group) => group.rules);
  const page = readFileSync(path.join(docs, 'metrics.md'), 'utf8');

  /** Series that exist, with the labels of each. */
  async function series(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const metrics = created();
    metrics.setTargets([target], ['nas']);
    metrics.setDestinationUp('nas', true);
    metrics.jobEnded(sampleJob());
    const found = new Map<string, ReadonlySet<string>>();
    for (const name of (await valuesOf(metrics)).keys()) {
      const labels = [...name.matchAll(/([a-z_]+)="/g)].map((match) => match[1] ?? '');
      found.set(name.replace(/\{.*/s, ''), new Set(labels));
    }
    return found;
  }

  const namesIn = (text: string): readonly string[] =>
    [...text.matchAll(/\b(?:backup|process|nodejs)_[a-z_]+\b/g)].map(([name]) => name);

  it('use only names and labels that exist', async () => {
    const known = await series();
    const expressions = [
      ...alerts.map(({ expr }) => expr),
      ...dashboard.panels.flatMap((panel) => panel.targets.map(({ expr }) => expr)),
    ];
    expect(expressions.length).toBeGreaterThan(12);
    for (const expression of expressions) {
      expect(namesIn(expression).length, expression).toBeGreaterThan(0);
      expect(namesIn(expression).filter((name) => !known.has(name))).toEqual([]);
      for (const [, name = '', selector = ''] of expression.matchAll(/([a-z_]+)\{([^}]*)\}/g)) {
        const labels = [...selector.matchAll(/([a-z_]+)\s*[=!]/g)].map((match) => match[1] ?? '');
        expect(labels.filter((label) => label !== 'instance' && !known.get(name)?.has(label))).toEqual([]);
      }
    }
  });

  it('are all explained, as are all figures', async () => {
    const known = [...(await series()).keys()].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
    expect(known.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    expect(namesIn(page).filter((name) => !known.includes(name))).toEqual([]);
    expect(alerts.map(({ alert }) => alert).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('tell of absence, and not of failure only', () => {
    expect(alerts.map(({ alert }) => alert)).toEqual(
      expect.arrayContaining(['HoldfastBackupOverdue', 'HoldfastNeverBackedUp', 'HoldfastAgentAbsent']),
    );
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });
});
