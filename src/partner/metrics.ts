/** Metrics of this instance for Prometheus. None of them is about a single partner or customer. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { MetricsText } from '../api/wire/metrics-text.ts';

export interface PartnerMetrics {
  text(): Promise<MetricsText>;
}

export function createPartnerMetrics(version: string): PartnerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'holdfast_partner_info',
    help: 'The version of the service, as a label.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);
  return { text: async () => ({ type: registry.contentType, text: await registry.metrics() }) };
}
