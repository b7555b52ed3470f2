/** Fills in a dialog and confirms it. */

import type { Page } from "playwright-core";

export async function submit(page: Page, fields: Readonly<Record<string, string>>, action: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  for (const [label, value] of Object.entries(fields)) {
    await dialog.getByLabel(label, { exact: true }).fill(value);
  }
  await dialog.getByRole("button", { name: action, exact: true }).click();
}
