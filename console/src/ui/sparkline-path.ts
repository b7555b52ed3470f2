/** The outline of a sparkline as paths of SVG. */

export interface SparklinePath {
  /** The values as a line. */
  readonly line: string;
  /** The area between the line and 0. */
  readonly area: string;
}

/** Keeps a line of the greatest value whole at the upper edge. */
const MARGIN = 1.5;

/** Returns the paths of the values, the oldest first, in a box. The vertical axis begins at 0. */
export function sparklinePath(values: readonly number[], width: number, height: number): SparklinePath {
  const highest = Math.max(...values, Number.MIN_VALUE);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, at) => {
    const y = height - MARGIN - (Math.max(0, value) / highest) * (height - 2 * MARGIN);
    return `${rounded(at * step)} ${rounded(y)}`;
  });
  if (points.length === 0) {
    return { line: "", area: "" };
  }
  const line = `M${points.join("L")}`;
  return { line, area: `${line}L${rounded((points.length - 1) * step)} ${height}L0 ${height}Z` };
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}
