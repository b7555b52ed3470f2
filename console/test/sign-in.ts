/** Signs in as a person would. */

import type { Page } from "playwright-core";

export async function signIn(page: Page, { email, password }: { readonly email: string; readonly password: string }) {
  await page.getByLabel("E-mail", { exact: true }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Signs in by an API key, which costs the member no hashing of a password. */
export async function signInByKey(page: Page, apiKey: string): Promise<void> {
  await page.getByRole("button", { name: "API key" }).click();
  await page.getByLabel("API key", { exact: true }).fill(apiKey);
  await page.getByRole("button", { name: "Sign in" }).click();
}
