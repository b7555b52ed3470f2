/** Checks that a page fits into its window, and that its tables have room for the names of their columns. */

import type { Page } from "playwright-core";

/** A phone, a tablet, a small and a usual window of a computer; the last is that of the other tests. */
export const WIDTHS: readonly number[] = [390, 768, 1_024, 1_360];

const HEIGHT = 850;

export async function resize(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHT });
}

/** Returns a line for each element that sticks out of the window, and for each name of a column that is cut. */
export async function layoutProblems(page: Page): Promise<string[]> {
  return (await page.evaluate(`(() => {
    const problems = [];
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) {
      const outside = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
      problems.push("the page is " + root.scrollWidth + " wide: " + outside.slice(0, 3).map((one) => one.outerHTML.slice(0, 120)).join(" and "));
    }
    for (const head of document.querySelectorAll("thead th")) {
      if (head.clientWidth < head.scrollWidth) {
        problems.push("column " + head.textContent + " is " + head.clientWidth + " wide and needs " + head.scrollWidth);
      }
    }
    for (const name of document.querySelectorAll("tbody tr > th")) {
      const area = name.closest(".table-area");
      area.scrollLeft = area.scrollWidth;
      const [one, all] = [name, area].map((element) => element.getBoundingClientRect());
      if (one.width < 60 || one.left < all.left || one.right > all.right + 1) {
        problems.push("the row " + name.textContent + " has no visible name");
      }
      area.scrollLeft = 0;
    }
    return problems;
  })()`)) as string[];
}
