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
