/** Metrics for Prometheus. Their names must not change, as dashboards and alert rules of users depend on them. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import { isGood, type Job, type JobType } from '../jobs/job.ts';
import { isDryRun } from './job-notice.ts';

/** A source and destination from the settings. */
export interface MetricTarget {
  readonly source: string;
  readonly destination: string;
  /** Milliseconds since 1970; null for never. */
  readonly lastSuccessAt: number | null;
}

/** `warning`: completed, except for some files. */
export type JobOutcome = 'completed' | 'warning' | 'failed' | 'canceled';
/** `processed`: examined in the sources. `uploaded`: newly stored. `deduplicated`: already stored. */
export type ByteKind = 'processed' | 'uploaded' | 'deduplicated' | 'restored';

export interface Metrics {
  /** Content type of the text. */
  readonly contentType: string;
  text(): Promise<string>;
  /**
   * Sets the sources and destinations of the settings. Only these become labels, so that paths in requests cannot
   * create any number of series, and what is removed from the settings disappears from the metrics.
   */
  setTargets(targets: readonly MetricTarget[], destinations: readonly string[]): void;
  /** Counts a job that has ended, and records the success of a backup. */
  jobEnded(job: Job): void;
  setDestinationUp(destination: string, up: boolean): void;
  setQueueLength(jobs: number): void;
}

export interface MetricsOptions {
  readonly clock: Clock;
  readonly version: string;
}

const TYPES: readonly JobType[] = ['backup', 'restore', 'check', 'prune', 'drill'];
const OUTCOMES: readonly JobOutcome[] = ['completed', 'warning', 'failed', 'canceled'];
const BYTE_KINDS: readonly ByteKind[] = ['processed', 'uploaded', 'deduplicated', 'restored'];
/** In seconds: from an incremental run to a first backup that takes days. */
const DURATION_BUCKETS = [1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 172_800];
/** More pairs of source and destination than any settings have; further ones are left out. */
const MOST_TARGETS = 1000;

export function createMetrics({ clock, version }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const lastSuccess = new Gauge({
    name: 'backup_last_success_timestamp_seconds',
    help: 'When the last completed backup of the whole source ended, with or without warnings; 0 if there is none.',
    labelNames: ['source', 'destination'],
    registers,
  });
  const durations = new Histogram({
    name: 'backup_job_duration_seconds',
    help: 'How long completed and failed jobs took.',
    labelNames: ['type'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const jobs = new Counter({
    name: 'backup_jobs_total',
    help: 'Jobs that have ended since the agent started.',
    labelNames: ['type', 'status'],
    registers,
  });
  const bytes = new Counter({
    name: 'backup_bytes_total',
    help: 'Bytes of jobs that completed since the agent started.',
    labelNames: ['kind'],
    registers,
  });
  const destinationUp = new Gauge({
    name: 'backup_destination_up',
    help: 'Whether the destination could be reached when it was last tried: 1 or 0.',
    labelNames: ['destination'],
    registers,
  });
  const queueLength = new Gauge({
    name: 'backup_queue_length',
    help: 'Jobs that are waiting.',
    registers,
  });
  new Gauge({
    name: 'backup_agent_info',
    help: 'The running version; always 1.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);
  addProcessMetrics(registry, clock);
  // Starting at 0 makes the first event visible as an increase.
  for (const type of TYPES) for (const status of OUTCOMES) jobs.inc({ type, status }, 0);
  for (const kind of BYTE_KINDS) bytes.inc({ kind }, 0);

  let targets: readonly MetricTarget[] = [];
  let destinations: readonly string[] = [];

  function setTargets(nextTargets: readonly MetricTarget[], nextDestinations: readonly string[]): void {
    targets = nextTargets.slice(0, MOST_TARGETS);
    lastSuccess.reset();
    for (const { source, destination, lastSuccessAt } of targets) {
      lastSuccess.set({ source, destination }, (lastSuccessAt ?? 0) / 1000);
    }
    const gone = destinations.filter((destination) => !nextDestinations.includes(destination));
    for (const destination of gone) destinationUp.remove({ destination });
    destinations = nextDestinations.slice(0, MOST_TARGETS);
  }

  function jobEnded(job: Job): void {
    const status = outcomeOf(job);
    if (status === null) return;
    const { type } = job;
    jobs.inc({ type, status });
    if (status === 'canceled') return;
    durations.observe({ type }, job.duration_ms / 1000);
    if (status === 'failed' || isDryRun(job)) return;
    for (const [kind, count] of bytesOf(job)) bytes.inc({ kind }, count);
    if (job.spec.type === 'backup' && isGood(job)) backedUp(job.spec, job.finished_at ?? clock.now());
  }

  function backedUp(
    { source, destination }: { readonly source: string; readonly destination: string },
    at: number,
  ): void {
    if (!targets.some((target) => target.source === source && target.destination === destination)) return;
    lastSuccess.set({ source, destination }, at / 1000);
  }

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    setTargets,
    jobEnded,
    setDestinationUp: (destination, up) => {
      if (destinations.includes(destination)) destinationUp.set({ destination }, up ? 1 : 0);
    },
    setQueueLength: (length) => queueLength.set(length),
  };
}

function outcomeOf({ status, result }: Job): JobOutcome | null {
  if (status === 'queued' || status === 'running') return null;
  return status === 'completed' && result === 'warning' ? 'warning' : status;
}

function bytesOf({ type, size_bytes, progress }: Job): readonly (readonly [ByteKind, number])[] {
  if (type === 'restore') return [['restored', size_bytes]];
  if (type !== 'backup') return [];
  return [
    ['processed', size_bytes],
    ['uploaded', progress.bytes_uploaded],
    ['deduplicated', progress.bytes_deduplicated],
  ];
}

/**
 * Adds metrics that are read on request. The default collection of prom-client keeps a ten-millisecond timer and a
 * garbage collection observer running, which an idle agent should not have.
 */
function addProcessMetrics(registry: Registry, clock: Clock): void {
  const registers: Registry[] = [];
  const startTime = new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    registers,
  });
  startTime.set(clock.now() / 1000 - process.uptime());
  const processor = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the agent itself, without its engine processes.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  const memory = new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory that the agent itself uses.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const heap = new Gauge({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Memory in use within the JavaScript heap.',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  for (const metric of [startTime, processor, memory, heap]) registry.registerMetric(metric);
}
