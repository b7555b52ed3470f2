/** Checks a page by the rules of axe, which find about half of what keeps people with disabilities out. */

import axe from "axe-core";
import type { Page } from "playwright-core";

/** Returns a line for each violation, with the first places that it concerns. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(`if (globalThis.axe === undefined) { ${axe.source} }`);
  const results = (await page.evaluate("axe.run(document)")) as axe.AxeResults;
  return results.violations.map(({ id, help, nodes }) => {
    const places = nodes.slice(0, 3).map(({ html, failureSummary }) => `${html}\n    ${failureSummary}`);
    return `${id}: ${help}\n  ${places.join("\n  ")}`;
  });
}
