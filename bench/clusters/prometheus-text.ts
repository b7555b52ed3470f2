/** The value of a metric without labels in a text for Prometheus. Raises an error if it is missing or not a number. */
export function readMetric(text: string, name: string): number {
  for (const line of text.split("\n")) {
    const [found, value] = line.split(" ");
    if (found === name && value !== undefined && value !== "" && Number.isFinite(Number(value))) {
      return Number(value);
    }
  }
  throw new Error(`the metrics do not contain ${name}`);
}

/**
 * The sum of a metric over its series with matching labels; 0 if there are none yet. The name may be that of the sum or
 * of the count of a histogram. Raises an error if a value is not a number, or if the text does not contain the metric.
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
  const types = [name, name.replace(/_(?:sum|count)$/, "")].map((metric) => `# TYPE ${metric} `);
  if (!lines.some((line) => types.some((type) => line.startsWith(type))) || !Number.isFinite(sum)) {
    throw new Error(`the metrics do not contain ${name}`);
  }
  return sum;
}
