/**
 * The main path of the console in a real Chromium, served by one real member: sign-in, and the life of a key. On a
 * machine without Chromium these tests are skipped.
 */

import type { Client } from "@quoin/client";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { ClusterUnderTest } from "../../node/test/harness/index.ts";
import { buildConsole } from "../scripts/index.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { findChromium, TestBrowser, type WatchedPage } from "./browser.ts";
import { createUnverified, createUser } from "./example-data.ts";
import { signIn, signInByKey } from "./sign-in.ts";
import { submit } from "./submit.ts";

const NAMESPACE = "default";

/** Runs in the page. */
const REPLACE_KEPT_TOKEN = `(token) => {
  const [name] = Object.keys(sessionStorage);
  sessionStorage.setItem(name, JSON.stringify({ ...JSON.parse(sessionStorage.getItem(name)), token }));
}`;

describe("the main path of the console", () => {
  let browser: TestBrowser;
  let cluster: ClusterUnderTest;
  let client: Client;
  let opened: WatchedPage | undefined;

  before(async function () {
    const program = findChromium();
    if (program === undefined) {
      this.skip();
    }
    await buildConsole();
    cluster = await ClusterUnderTest.start(1, { placementOf: async () => ({ flags: ["--mail-to-log"] }) });
    client = cluster.client();
    browser = await TestBrowser.start(program);
  });

  afterEach(async () => {
    await opened?.page.context().close();
    expect(opened?.problems ?? []).to.deep.equal([]);
  });

  after(async () => {
    try {
      await browser?.close();
    } finally {
      await cluster?.dispose();
    }
  });

  async function open(): Promise<Page> {
    const { host, ports } = cluster.member("q-0");
    opened = await browser.open(`http://${host}:${ports.http}/console/`, "light");
    return opened.page;
  }

  function main(page: Page) {
    return page.getByRole("main");
  }

  async function storedText(key: string): Promise<string> {
    return new TextDecoder().decode((await client.keyValue.get(NAMESPACE, key)).value);
  }

  it("refuses a wrong password, and signs in by the right one and by an API key", async () => {
    const page = await open();
    await signIn(page, { ...cluster.owner, password: "wrong" });
    await page.getByRole("alert").getByText("The e-mail address or the password is wrong.").waitFor();
    await signIn(page, cluster.owner);
    await page.getByText("owner · all namespaces").waitFor();
    const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
    expect(stored, "what other pages or a later visitor could read").to.equal('[{},{},""]');
    await page.getByRole("button", { name: "Sign out" }).click();
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByText("owner@quoin.test").waitFor();
  });

  it("stays signed in over a reload only where the person asks for it, until the sign-out or a refusal", async () => {
    const page = await open();
    const stored = async () => await page.evaluate("Object.values(sessionStorage).length + localStorage.length");
    await page.getByLabel("Stay signed in when this tab is reloaded").check();
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByText("owner@quoin.test").waitFor();
    await page.reload();
    await page.getByText("owner@quoin.test").waitFor();
    expect(await stored(), "after a reload").to.equal(1);
    await page.evaluate(`(${REPLACE_KEPT_TOKEN})("not.a.token")`);
    await page.reload();
    await page.getByRole("button", { name: "API key" }).waitFor();
    expect(await stored(), "after something that is no token").to.equal(0);
    const claims = { sub: "ada", role: "owner", namespaces: ["*"] };
    for (const [exp, name] of [
      [1, "expired"],
      [Math.floor(Date.now() / 1_000) + 600, "refused"],
    ] as const) {
      await page.getByLabel("Stay signed in when this tab is reloaded").check();
      await signInByKey(page, cluster.secrets.apiKey);
      await page.getByText("owner@quoin.test").waitFor();
      const payload = Buffer.from(JSON.stringify({ ...claims, exp })).toString("base64url");
      await page.evaluate(`(${REPLACE_KEPT_TOKEN})("e30.${payload}.e30")`);
      await page.reload();
      await page.getByRole("button", { name: "API key" }).waitFor();
      expect(await page.getByRole("dialog").count(), name).to.equal(name === "refused" ? 1 : 0);
      expect(await stored(), name).to.equal(0);
    }
    await page.reload();
    await page.reload();
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByText("owner@quoin.test").waitFor();
    expect(await stored(), "without the checkbox").to.equal(0);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Stay signed in when this tab is reloaded").check();
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "API key" }).waitFor();
    expect(await stored(), "after the sign-out").to.equal(0);
  });

  it("shows the own account and the settings of the cluster, and changes the own password", async () => {
    const page = await open();
    await signIn(page, cluster.owner);
    await page.getByText("owner · all namespaces").waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("region", { name: "Your account" }).getByText(cluster.owner.email).waitFor();
    await main(page).getByText("token.lifetime_secs").waitFor();
    const change = async (present: string, next: string, again = next) => {
      await page.getByLabel("Present password", { exact: true }).fill(present);
      await page.getByLabel("New password", { exact: true }).fill(next);
      await page.getByLabel("New password again", { exact: true }).fill(again);
      await page.getByRole("button", { name: "Change the password" }).click();
    };
    await change(cluster.owner.password, "another password", "an other password");
    await page.getByRole("alert").getByText("The two new passwords differ.").waitFor();
    await change("wrong", "another password");
    await page.getByRole("alert").locator(".problem").waitFor();
    await change(cluster.owner.password, "another password");
    await page.getByText("The password is changed").waitFor();
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await main(page).getByText("No keys").waitFor();
    expect(await page.getByRole("dialog").count(), "dialogs that ask for another sign-in").to.equal(0);
  });

  it("verifies an address with the token of the mail, which leaves the address bar, and says when it is used", async () => {
    const { token } = await createUnverified(cluster, "new@example.com", { role: "member", namespaces: [NAMESPACE] });
    const page = await open();
    await page.getByRole("link", { name: "Enter the token of a mail" }).click();
    await page.getByLabel("Token from the mail").fill("of another mail");
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("alert").getByText("The token is unknown, used, or older than a week.").waitFor();
    await page.goto(`about:blank`);
    const { host, ports } = cluster.member("q-0");
    const address = `http://${host}:${ports.http}/console/#/verify`;
    await page.goto(`${address}?token=${token}`);
    await page.getByLabel("New password").waitFor();
    expect(await page.getByLabel("Token from the mail").inputValue()).to.equal(token);
    expect(page.url()).to.equal(address);
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("alert").getByText("password is required").waitFor();
    const password = "correct horse battery";
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("The address is verified.").waitFor();
    await page.goBack();
    expect(page.url(), "the page before").to.equal("about:blank");
    await page.goto(`${address}?token=${token}`);
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("alert").getByText("The token is unknown, used, or older than a week.").waitFor();
    await page.getByRole("link", { name: "Sign in" }).click();
    await signIn(page, { email: "new@example.com", password });
    await page.getByText("new@example.com").waitFor();
  });

  it("sends a mail for a forgotten password, and sets another one with its token", async () => {
    const rights = { role: "member", namespaces: [NAMESPACE] };
    const { email } = await createUser(cluster, "forgetful@example.com", rights);
    const first = await cluster.mailedToken(email);
    const page = await open();
    await page.getByText("Forgot the password?").click();
    await page.getByText("quoinctl owner reset").waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.getByLabel("E-mail of the user").fill(email);
    await page.getByRole("button", { name: "Send a mail" }).click();
    await page.getByText("If a user has this address, a mail is on its way.").waitFor();
    const token = await cluster.mailedToken(email, first);
    await page.getByRole("link", { name: "enter the token", exact: true }).click();
    await page.getByRole("heading", { name: "Verify your e-mail address" }).waitFor();
    await page.getByLabel("Token from the mail").fill(token);
    await page.getByRole("heading", { name: "Set a new password" }).waitFor();
    const password = "another correct horse";
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByText("The new password is set.").waitFor();
    await page.getByRole("link", { name: "Sign in" }).click();
    await signIn(page, { email, password });
    await page.getByText(email).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("link", { name: "Enter the token of a mail" }).click();
    await page.getByLabel("Token from the mail").fill(token);
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByRole("alert").getByText("older than an hour").waitFor();
  });

  it("opens the reference of the API that the member serves, and keeps the session", async () => {
    const page = await open();
    await signInByKey(page, cluster.secrets.apiKey);
    const popup = page.waitForEvent("popup");
    await page.getByRole("link", { name: "API reference" }).click();
    const reference = await popup;
    await reference.getByRole("heading", { level: 1 }).waitFor();
    expect(new URL(reference.url()).pathname).to.equal("/docs");
    await page.getByText("owner@quoin.test").waitFor();
  });

  it("says that there is no such page, also below a page, and leads on", async () => {
    const page = await open();
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    for (const route of ["#/nonsense", "#/overview/more", `#/keys/${NAMESPACE}/more`, "#/accounts/nonsense"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
      await main(page).getByText(`the address “${route}”`).waitFor();
      await page.getByRole("heading", { name: "There is no such page" }).waitFor();
      expect(await page.locator("nav [aria-current]").count(), route).to.equal(0);
    }
    await main(page).getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
    await page.evaluate('location.hash = "#/"');
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("creates, changes, compares and deletes a key", async () => {
    const page = await open();
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.evaluate(`location.hash = "#/keys/${NAMESPACE}"`);
    await page.getByRole("button", { name: "New key" }).click();
    await submit(page, { Key: "notes/today", Value: "first line" }, "Create");
    await main(page).getByText("first line").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await main(page).getByLabel("Value", { exact: true }).fill("from the console");
    const { modRevision } = await client.keyValue.put(NAMESPACE, "notes/today", "from elsewhere");
    await page.getByRole("button", { name: "Save over revision" }).click();
    await page.getByRole("alert").getByText(`the present one is ${modRevision}`).waitFor();
    expect(await storedText("notes/today"), "after the conflict").to.equal("from elsewhere");
    await page.getByRole("button", { name: "Load the present value" }).click();
    await main(page).getByLabel("Value", { exact: true }).fill("from the console");
    await page.getByRole("button", { name: "Save over revision" }).click();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    expect(await storedText("notes/today")).to.equal("from the console");
    await page.getByRole("button", { name: "History" }).click();
    await main(page).getByText("+ from the console").waitFor();
    await main(page).getByText("− from elsewhere").waitFor();
    await page.getByRole("button", { name: "Value", exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete" });
    expect(await confirm.isDisabled(), "before the name is typed").to.equal(true);
    await submit(page, { Confirmation: "notes/today" }, "Delete");
    await main(page).getByText("The key does not exist.").waitFor();
  });

  it("stores JSON as typed, and shows and edits it without a change of its numbers and names", async () => {
    const typed = '{"id":9007199254740993,"price":1.10,"a":1,"a":2}';
    const page = await open();
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.evaluate(`location.hash = "#/keys/${NAMESPACE}"`);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("dialog").getByText("JSON", { exact: true }).click();
    await submit(page, { Key: "exact", Value: typed }, "Create");
    await main(page).getByText('"id": 9007199254740993').waitFor();
    expect(await storedText("exact")).to.equal(typed);
    await page.getByRole("button", { name: "Edit" }).click();
    const field = main(page).getByLabel("Value", { exact: true });
    expect(await field.inputValue()).to.equal(typed);
    await page.getByRole("button", { name: "Indent" }).click();
    const indented = '{\n  "id": 9007199254740993,\n  "price": 1.10,\n  "a": 1,\n  "a": 2\n}';
    expect(await field.inputValue()).to.equal(indented);
    await page.getByRole("button", { name: "Save over revision" }).click();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    expect(await storedText("exact")).to.equal(indented);
  });
});
