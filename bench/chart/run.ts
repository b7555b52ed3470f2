/** `npm run bench -- chart`: from recorded figures to a picture. It measures nothing. */

import { writeFileSync } from "node:fs";
import { drawChart } from "./draw.ts";
import { readChart } from "./figures.ts";
import type { ChartOptions } from "./options.ts";

/** Raises a ChartError if the file has no figures. */
export function runChart({ figures, measure, svg }: ChartOptions): void {
  const picture = drawChart(readChart(figures, measure));
  if (svg === null) {
    process.stdout.write(picture);
  } else {
    writeFileSync(svg, picture);
  }
}
