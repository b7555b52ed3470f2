/** Measures the micro-benchmarks one after the other, and prints the results. */

import { type Figures, measureCase, microCaseGroups } from "@quoin/node/micro";
import { readFigures, writeFigures } from "./figures.ts";
import type { MicroOptions } from "./options.ts";
import { microTable } from "./table.ts";

const WARM_UP_MS = 200;

/** Raises a FiguresError before any measurement if the figures to compare with are not usable. */
export async function runMicro(options: MicroOptions, interrupted: AbortSignal): Promise<void> {
  const before = options.against === null ? null : readFigures(options.against);
  const figures = new Map<string, Figures>();
  for await (const { cases, close } of microCaseGroups()) {
    try {
      for (const microCase of cases.filter(({ name }) => options.pattern?.test(name) ?? true)) {
        interrupted.throwIfAborted();
        figures.set(microCase.name, measureCase(microCase, { warmUpMs: WARM_UP_MS, measuredMs: options.measuredMs }));
        // Lets signals arrive, because the measurement itself never waits.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      await close();
    }
  }
  console.log(microTable(figures, before));
  if (options.output !== null) {
    writeFigures(options.output, figures);
  }
}
