import { readFileSync } from "node:fs";
import { buildConsole } from "../scripts/index.ts";
import { findChromium, TestBrowser } from "./browser.ts";
import { HOSTILE, SHOP } from "./example-data.ts";
import { signIn, signInByKey } from "./sign-in.ts";

await buildConsole();
const { address, viewer, apiKey } = JSON.parse(readFileSync("/tmp/h22-console-shots/dev.json", "utf8"));
const [schemes = "light", ...wanted] = process.argv.slice(2);
const browser = await TestBrowser.start(findChromium()!);
for (const scheme of schemes.split(",") as ("light" | "dark")[]) {
  const { page, problems } = await browser.open(address, scheme);
  page.setDefaultTimeout(30000);
  try {
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.screenshot({ path: `/tmp/h22-console-shots/${scheme}-sign-in.png` });
    if (wanted.includes("viewer")) await signIn(page, viewer);
    else await signInByKey(page, apiKey);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
  } catch (e) {
    console.log(problems, String(e), await page.content());
    await page.screenshot({ path: `/tmp/h22-console-shots/${scheme}-failed.png` });
  }
  const views: Record<string, [string, () => Promise<void>]> = {
    overview: [
      "#/overview",
      async () => {
        await page.waitForTimeout(6000);
      },
    ],
    keys: [`#/keys/${SHOP}`, async () => {}],
    key: [`#/keys/${SHOP}?prefix=config%2F&key=config%2Fcheckout`, async () => {}],
    history: [
      `#/keys/${SHOP}?prefix=config%2F&key=config%2Fcheckout`,
      async () => {
        await page.getByRole("button", { name: "History" }).click();
      },
    ],
    hex: [`#/keys/${SHOP}?key=logo`, async () => {}],
    edit: [
      `#/keys/${SHOP}?prefix=config%2F&key=config%2Fcheckout`,
      async () => {
        await page.getByRole("button", { name: "Value", exact: true }).click();
        await page.getByRole("button", { name: "Edit" }).click();
      },
    ],
    locks: [`#/locks/${SHOP}?lock=x+checkout-leader`, async () => {}],
    force: [
      `#/locks/${SHOP}?lock=x+checkout-leader`,
      async () => {
        await page.getByRole("button", { name: "Force release" }).click();
      },
    ],
    rw: [
      `#/locks/${SHOP}?lock=rw+catalog`,
      async () => {
        await page.keyboard.press("Escape");
      },
    ],
    memory: [
      `#/memory/${SHOP}`,
      async () => {
        await page.getByRole("link", { name: "price table" }).click();
      },
    ],
    logs: [
      `#/logs/${SHOP}`,
      async () => {
        await page.getByRole("link", { name: "orders" }).click();
      },
    ],
    watches: ["#/watches", async () => {}],
    accounts: ["#/accounts", async () => {}],
    apikeys: ["#/accounts/keys", async () => {}],
    usage: ["#/usage", async () => {}],
    hostile: [`#/locks/${HOSTILE}`, async () => {}],
  };
  for (const [name, [hash, act]] of Object.entries(views)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.waitForTimeout(700);
    try {
      await act();
    } catch (e) {
      console.log(name, String(e).split("\n")[0]);
    }
    await page.waitForTimeout(900);
    await page.screenshot({ path: `/tmp/h22-console-shots/${scheme}-${name}.png` });
  }
  console.log(scheme, problems);
}
await browser.close();
