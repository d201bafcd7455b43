/** Metrics in the text format of Prometheus. */
export interface MetricsText {
  /** Media type. */
  readonly type: string;
  readonly text: string;
}
