export interface Line {
  /** Growth of y for each x. */
  readonly slope: number;
  /** Half of the slope's 95% interval. */
  readonly margin: number;
}

/** Least squares, with the interval of Student's distribution. Undefined for less than five points: it would say nothing. */
export function lineThrough(points: readonly { readonly x: number; readonly y: number }[]): Line | undefined {
  if (points.length < 5) return undefined;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  const error = Math.sqrt(rest / (points.length - 2) / spread);
  return { slope, margin: studentT95(points.length - 2) * error };
}

/** The two-sided 95% point of Student's distribution, to a hundredth from 3 degrees of freedom on. */
function studentT95(degrees: number): number {
  const z = 1.959964;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + g1 / degrees + g2 / degrees ** 2 + g3 / degrees ** 3;
}
