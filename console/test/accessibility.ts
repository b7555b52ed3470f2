/** Checks a page by the rules of axe, which find about half of what keeps people with disabilities out. */

import axe from "axe-core";
import type { Page } from "playwright-core";

/** All rules that axe has, or those about colors. */
export type Rules = "all" | "colors";

/** The rules about colors that axe applies by default. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];
const OPTIONS: Readonly<Record<Rules, axe.RunOptions>> = {
  all: { resultTypes: ["violations"] },
  colors: { runOnly: { type: "rule", values: COLOR_RULES }, resultTypes: ["violations"] },
};

/** Returns a line for each violation, with the first places that it concerns. */
export async function accessibilityViolations(page: Page, rules: Rules = "all"): Promise<string[]> {
  await page.evaluate(`if (globalThis.axe === undefined) { ${axe.source} }`);
  const results = (await page.evaluate(`axe.run(document, ${JSON.stringify(OPTIONS[rules])})`)) as axe.AxeResults;
  return results.violations.map(({ id, help, nodes }) => {
    const places = nodes.slice(0, 3).map(({ html, failureSummary }) => `${html}\n    ${failureSummary}`);
    return `${id}: ${help}\n  ${places.join("\n  ")}`;
  });
}
