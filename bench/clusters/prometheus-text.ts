/** The value of a metric without labels in a text for Prometheus. Raises an error if it is not there, or no number. */
export function readMetric(text: string, name: string): number {
  for (const line of text.split("\n")) {
    const [found, value] = line.split(" ");
    if (found === name && value !== undefined && value !== "" && Number.isFinite(Number(value))) {
      return Number(value);
    }
  }
  throw new Error(`the metrics do not tell ${name}`);
}

/**
 * The sum of a metric over those of its series whose labels match; 0 if there are none yet. Raises an
 * error if one is no number, or if the text has no such metric.
 */
export function sumOfMetric(text: string, name: string, labels = /(?:)/): number {
  const lines = text.split("\n");
  let sum = 0;
  for (const line of lines) {
    const at = line.lastIndexOf(" ");
    const series = line.slice(0, at);
    if ((series === name || series.startsWith(`${name}{`)) && labels.test(series)) {
      sum += Number(line.slice(at + 1));
    }
  }
  if (!lines.some((line) => line.startsWith(`# TYPE ${name} `)) || !Number.isFinite(sum)) {
    throw new Error(`the metrics do not tell ${name}`);
  }
  return sum;
}
