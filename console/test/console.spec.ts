/**
 * The console in a real Chromium, served by three real members, beyond its main path. On a machine without Chromium
 * these tests are skipped.
 *
 * `QUOIN_CONSOLE_KEYS` is the number of keys of the namespace with many keys, at least 1,300; 1,000,000 takes some minutes to write.
 * `QUOIN_PICTURES` is a directory for pictures of the pages, as `npm run docs:pictures` makes them for the manual. Its
 * directory `pages` gets a picture of every page at several widths, for people who change the look.
 */

import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Client, LockHandle } from "@quoin/client";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { type ClusterMember, ClusterUnderTest, until } from "../../node/test/harness/index.ts";
import { temporaryDirectory } from "../../testing/index.ts";
import { buildConsole } from "../scripts/index.ts";
import { accessibilityViolations, type Rules } from "./accessibility.ts";
import { type ColorScheme, findChromium, TestBrowser, type WatchedPage } from "./browser.ts";
import {
  acquireAs,
  createUser,
  ExampleShop,
  fillHostile,
  fillMany,
  HOSTILE,
  MANY,
  MARKUP,
  registerAs,
  SHOP,
  withCustomers,
} from "./example-data.ts";
import { layoutProblems, resize, WIDTHS } from "./layout.ts";
import { PathProxy } from "./path-proxy.ts";
import { signIn, signInByKey } from "./sign-in.ts";
import { submit } from "./submit.ts";

const FLAGS = ["--mail-to-log", "--rate-limit", "grpc=0"];
const SETUP_MS = 15 * 60_000;
/** By default two folders, and more than two pages. */
const MANY_KEYS = Number(process.env.QUOIN_CONSOLE_KEYS ?? 1_300);
const PICTURES = process.env.QUOIN_PICTURES;
/** Pictures wait for lines with many points. */
const TEST_MS = PICTURES === undefined ? 180_000 : 420_000;

/** The upper part of the page has everything that a picture shows. */
const PICTURE = { x: 0, y: 0, width: 1_360, height: 700 };
/** The pictures in docs/console.md. */
const MANUAL_PICTURES: ReadonlySet<string> = new Set([
  ...["overview-light", "keys-light", "locks-dark", "logs-light", "usage-light"],
]);
/** Points of a line in a picture: a member counts for five seconds for each, and the page asks every ten seconds. */
const PICTURE_POINTS = 20;
const DRAWN_MS_MAX = 150_000;

/** A view of the console, and a text that it shows once it has its data. */
interface View {
  readonly name: string;
  readonly route: string;
  readonly shows: string;
}

const VIEWS: readonly View[] = [
  { name: "overview", route: "#/overview", shows: "q-2" },
  { name: "keys", route: `#/keys/${SHOP}?prefix=config%2F&key=config%2Fcheckout`, shows: "gift-cards" },
  { name: "locks", route: `#/locks/${SHOP}?lock=x+checkout-leader`, shows: "checkout-e5a9" },
  { name: "semaphore", route: `#/locks/${SHOP}?lock=x+bank-calls`, shows: "3 of 5 held" },
  { name: "sessions", route: `#/sessions/${SHOP}`, shows: "payment-3b1f" },
  { name: "memory", route: `#/memory/${SHOP}`, shows: "price table" },
  { name: "logs", route: `#/logs/${SHOP}`, shows: "orders" },
  { name: "watches", route: "#/watches", shows: "stock/" },
  { name: "accounts", route: "#/accounts", shows: "viewer@example.com" },
  { name: "api-keys", route: "#/accounts/keys", shows: "checkout-service" },
  { name: "usage", route: "#/usage", shows: "Totals of the period" },
  { name: "settings", route: "#/settings", shows: "token.lifetime_secs" },
  { name: "missing-page", route: "#/nonsense", shows: "Your pages" },
  { name: "backups", route: "#/backups", shows: "no damage" },
];

describe("the console in a browser", function () {
  this.timeout(TEST_MS);
  let browser: TestBrowser;
  let cluster: ClusterUnderTest;
  let client: Client;
  let shop: ExampleShop;
  let hostileHold: LockHandle;
  let opened: WatchedPage[];
  let streams: AbortController[];

  before(async function () {
    this.timeout(SETUP_MS);
    const program = findChromium();
    if (program === undefined) {
      this.skip();
    }
    await buildConsole();
    const store = path.join(temporaryDirectory(), "backups");
    mkdirSync(store);
    const flags = [...FLAGS, "--backup-store", store, "--backup-archive"];
    cluster = await ClusterUnderTest.start(3, { placementOf: async () => ({ flags }) });
    client = cluster.client();
    shop = new ExampleShop(client);
    await shop.fill();
    hostileHold = await fillHostile(client);
    await fillMany(client, MANY_KEYS);
    await createUser(cluster, "viewer@example.com", { role: "viewer", namespaces: [SHOP] });
    browser = await TestBrowser.start(program);
  });

  beforeEach(() => {
    [opened, streams] = [[], []];
  });

  afterEach(async () => {
    for (const stream of streams) {
      stream.abort();
    }
    for (const { page, problems } of opened) {
      await page.context().close();
      expect(problems).to.deep.equal([]);
    }
  });

  after(async () => {
    try {
      await browser?.close();
      await hostileHold?.release();
      await shop?.dispose();
    } finally {
      // Also when a hold could not be released: the members are processes of their own.
      await cluster?.dispose();
    }
  });

  /** Opens the console of a member, by default one that does not lead. */
  async function open(scheme: ColorScheme = "light", member?: ClusterMember): Promise<Page> {
    const { host, ports } = member ?? (await cluster.follower());
    const watched = await browser.open(`http://${host}:${ports.http}/console/`, scheme);
    opened.push(watched);
    return watched.page;
  }

  /** Watches keys at this member until the end of the test, so that it has an open stream. */
  async function openStream({ host, ports }: ClusterMember): Promise<void> {
    const stream = new AbortController();
    streams.push(stream);
    const headers = { Authorization: `Bearer ${await cluster.tokens.token()}` };
    const address = `http://${host}:${ports.http}/v1/watch/keys?namespace=${SHOP}&prefix=stock/`;
    const response = await fetch(address, { headers, signal: stream.signal });
    expect(response.status).to.equal(200);
    // A response that nothing reads may be collected as garbage, with its connection.
    void response.text().catch(() => "");
  }

  async function openAsOwner(scheme: ColorScheme = "light", member?: ClusterMember): Promise<Page> {
    const page = await open(scheme, member);
    await signInByKey(page, cluster.secrets.apiKey);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    return page;
  }

  async function show(page: Page, route: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
  }

  async function storedText(key: string): Promise<string> {
    return new TextDecoder().decode((await client.keyValue.get(SHOP, key)).value);
  }

  function main(page: Page) {
    return page.getByRole("main");
  }

  for (const [scheme, rules, widths] of [
    ["light", "all", WIDTHS],
    // Only colors differ from the other scheme.
    ["dark", "colors", WIDTHS.slice(-1)],
  ] as const) {
    it(`shows every page, accessible and within its policy, in ${scheme}`, async () => {
      const member = await cluster.follower();
      await openStream(member);
      const page = await open(scheme, member);
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      const problems = await problemsAt(page, "sign-in", widths, rules);
      await signInByKey(page, cluster.secrets.apiKey);
      for (const { name, route, shows } of VIEWS) {
        await show(page, route);
        await main(page).getByText(shows).first().waitFor();
        if (name === "sessions") {
          await main(page).getByRole("row").filter({ hasText: shows }).getByRole("link").click();
          await main(page).getByText("services/payment/10.0.9.2").waitFor();
        } else if (name === "memory") {
          await main(page).getByRole("link", { name: "price table" }).click();
          await main(page).getByText("00000010").waitFor();
        } else if (name === "logs") {
          await main(page).getByRole("link", { name: "orders" }).click();
          await main(page).getByText("tea pot").waitFor();
        }
        problems.push(...(await problemsAt(page, name, widths, rules)));
        await takePicture(page, `${name}-${scheme}`);
      }
      expect(problems).to.deep.equal([]);
    });
  }

  /**
   * What is wrong with a page at these widths, the last of which stays. Takes a picture of each. The rules of axe take most
   * of the time, and are tried with both forms of the page: folded, and whole.
   */
  async function problemsAt(page: Page, name: string, widths: readonly number[], rules: Rules): Promise<string[]> {
    const problems: string[] = [];
    for (const width of widths) {
      await resize(page, width);
      const isForm = width === widths[0] || width === widths.at(-1);
      const found = [...(await layoutProblems(page)), ...(isForm ? await accessibilityViolations(page, rules) : [])];
      problems.push(...found.map((problem) => `${name} at ${width} pixels: ${problem}`));
      if (PICTURES !== undefined) {
        await page.screenshot({ path: path.join(PICTURES, "pages", `${name}-${width}.png`) });
      }
    }
    return problems;
  }

  async function takePicture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined || !MANUAL_PICTURES.has(name)) {
      return;
    }
    if (name === "overview-light") {
      const clients = cluster.members.map(({ grpc }) => cluster.client([grpc]));
      await withCustomers(clients, async () => {
        for (const { name: member } of cluster.members) {
          await untilDrawn(page, `Latency of ${member}`, PICTURE_POINTS);
        }
      });
    }
    await page.screenshot({ path: path.join(PICTURES, `console-${name}.png`), clip: PICTURE });
  }

  /** Waits until the line with this label has so many points. */
  async function untilDrawn(page: Page, label: string, points: number): Promise<void> {
    const line = main(page)
      .getByRole("img", { name: `${label}:` })
      .locator(".sparkline-line");
    const pointsOf = async () => (await line.getAttribute("d"))?.split("L").length ?? 0;
    await until(`${points} points of ${label}`, async () => (await pointsOf()) >= points, DRAWN_MS_MAX);
  }

  it("shows names and values as text, whatever markup they contain", async () => {
    const page = await openAsOwner();
    const views: readonly (readonly [route: string, open?: (page: Page) => Promise<void>])[] = [
      [`#/keys/${HOSTILE}`],
      [`#/keys/${HOSTILE}?${new URLSearchParams({ key: MARKUP })}`],
      [`#/locks/${HOSTILE}?${new URLSearchParams({ lock: `x ${MARKUP}` })}`],
      [`#/sessions/${HOSTILE}`, (shown) => main(shown).getByRole("link", { name: /^\d+$/ }).click()],
      [`#/memory/${HOSTILE}`, (shown) => main(shown).getByRole("link", { name: MARKUP }).click()],
      [`#/logs/${HOSTILE}`, (shown) => main(shown).getByRole("link", { name: MARKUP }).click()],
      ["#/accounts/keys"],
      [`#/keys/${HOSTILE}?${new URLSearchParams({ prefix: MARKUP, key: "missing" })}`],
    ];
    for (const [route, openIt] of views) {
      await show(page, route);
      // A slash in a name ends a folder.
      await main(page)
        .getByText(MARKUP.slice(0, MARKUP.indexOf("/")))
        .first()
        .waitFor();
      await openIt?.(page);
      const elements = await page.evaluate("document.querySelectorAll('main :is(img, script)').length");
      expect(elements, `elements that a name has made at ${route}`).to.equal(0);
    }
    await show(page, `#/keys/${HOSTILE}?${new URLSearchParams({ key: MARKUP })}`);
    await page.getByRole("button", { name: "History" }).click();
    await main(page).getByText(`+ ${MARKUP} changed`).waitFor();
  });

  it("shows characters of names that cannot be seen, and deletes such a key", async () => {
    const namespace = "unseen";
    await client.keyValue.createNamespace(namespace);
    for (const key of ["cr", "cr\r", "a\u202eb"]) {
      await client.keyValue.put(namespace, key, "line one\nline two");
    }
    const page = await openAsOwner();
    await show(page, `#/keys/${namespace}`);
    await page.getByRole("link", { name: "cr\\r", exact: true }).click();
    await page.getByRole("heading", { name: "cr\\r", exact: true }).waitFor();
    expect(await page.locator("tbody th").allTextContents()).to.deep.equal(["a\\u{202e}b", "cr", "cr\\r"]);
    expect(await page.locator("pre.value-text").textContent()).to.equal("line one\nline two");
    await page.getByRole("searchbox", { name: "Prefix" }).fill("cr\\r");
    await page.getByRole("searchbox", { name: "Prefix" }).press("Enter");
    await main(page).getByText("No key has this prefix").waitFor();
    await page.getByRole("button", { name: "Search for the character that it stands for" }).click();
    await main(page).getByText("Searched: cr\\r").waitFor();
    await page.locator("tbody").getByRole("link", { name: "cr\\r", exact: true }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await submit(page, { Confirmation: "cr\\r" }, "Delete");
    await until("the deletion", async () => (await client.keyValue.list(namespace)).items.length === 2);
    await client.keyValue.get(namespace, "cr");
  });

  it("shows a change of the chosen key as it happens", async () => {
    const page = await openAsOwner();
    await client.keyValue.put(SHOP, "live", "before");
    await show(page, `#/keys/${SHOP}?key=live`);
    await main(page).locator(".chip").getByText("live", { exact: true }).waitFor();
    await client.keyValue.put(SHOP, "live", "after");
    await main(page).getByText("after", { exact: true }).waitFor();
    await client.keyValue.delete(SHOP, "live");
  });

  it("shows who holds a lock and who waits in which order, and releases it by force", async () => {
    const page = await openAsOwner();
    await show(page, `#/locks/${SHOP}?lock=x+checkout-leader`);
    const panel = page.getByRole("region", { name: "Lock checkout-leader" });
    await panel.getByText("checkout-7f9c").waitFor();
    const owners = await panel.locator(".queue strong").allTextContents();
    expect(owners).to.deep.equal(["checkout-81bd", "checkout-c044", "checkout-e5a9"]);
    await show(page, `#/locks/${SHOP}?lock=x+stock-import`);
    await page.getByRole("button", { name: "Force release" }).click();
    await submit(page, { Reason: "a test", Confirmation: "stock-import" }, "Force release");
    await page.getByRole("region", { name: "Lock stock-import" }).getByText("No one holds it.").waitFor();
    expect((await client.locks.describe(SHOP, "stock-import")).state).to.equal("FREE");
  });

  it("shows permits, values and sessions of holds, and leads to a session", async () => {
    const page = await openAsOwner();
    await show(page, `#/locks/${SHOP}?lock=x+payment-leader`);
    const leader = page.getByRole("region", { name: "Lock payment-leader" });
    await leader.getByText("value 10.0.9.2:8080").waitFor();
    await show(page, `#/locks/${SHOP}?lock=x+bank-calls`);
    const semaphore = page.getByRole("region", { name: "Lock bank-calls" });
    await semaphore.getByText("3 of 5 held").waitFor();
    const permits = await semaphore.locator(".hold .chip").allTextContents();
    expect(permits).to.deep.equal(["2 permits", "1 permit"]);
    await semaphore.getByText("ends with session").getByRole("link").click();
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    const panel = page.getByRole("region", { name: /^Session \d/ });
    await panel.getByText("10.0.9.2:8080").waitFor();
    const links = await panel.getByRole("link").allTextContents();
    expect(links).to.have.members(["services/payment/10.0.9.2", "bank-calls", "payment-leader"]);
    await panel.getByRole("link", { name: "bank-calls" }).click();
    await semaphore.getByText("3 of 5 held").waitFor();
    await show(page, `#/keys/${SHOP}?key=${encodeURIComponent("services/payment/10.0.9.2")}`);
    await main(page).locator(".properties").getByRole("link", { name: /^\d+$/ }).waitFor();
    await show(page, `#/locks/${SHOP}?prefix=bank`);
    await page.getByRole("row").filter({ hasText: "bank-calls" }).getByText("3 of 5").waitFor();
  });

  it("ends a session of another user by force, after its id, with its keys and holds", async () => {
    const user = await createUser(cluster, "service@example.com", { role: "member", namespaces: [SHOP] });
    await client.locks.create(SHOP, "of-a-service");
    const service = { owner: "doomed-1", key: "services/doomed/1", lock: "of-a-service" };
    const id = await registerAs(cluster, user, service);
    const page = await openAsOwner();
    await show(page, `#/sessions/${SHOP}`);
    await main(page).getByRole("row").filter({ hasText: "doomed-1" }).getByRole("link").click();
    const panel = page.getByRole("region", { name: `Session ${id}` });
    await panel.getByText("services/doomed/1").waitFor();
    await panel.getByText("of-a-service").waitFor();
    await panel.getByText(user.email).waitFor();
    await panel.getByRole("button", { name: "Force end" }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Force end" });
    expect(await confirm.isDisabled(), "before the id is typed").to.equal(true);
    await submit(page, { Confirmation: id }, "Force end");
    await panel.getByText("The session has ended.").waitFor();
    await main(page).getByRole("row").filter({ hasText: "doomed-1" }).waitFor({ state: "hidden" });
    expect((await client.keyValue.list(SHOP, { prefix: "services/doomed/" })).items).to.deep.equal([]);
    expect((await client.locks.describe(SHOP, "of-a-service")).state).to.equal("FREE");
  });

  it("deletes a lock after its name, and one in use only by force", async () => {
    const page = await openAsOwner();
    await client.readWriteLocks.create(SHOP, "retired-rw");
    await client.locks.create(SHOP, "retired");
    await client.semaphores.create(SHOP, "retired-permits", 2);
    await client.semaphores.acquire(SHOP, "retired-permits", { ttlSeconds: 3_600 });
    for (const [key, name] of [
      ["rw+retired-rw", "retired-rw"],
      ["x+retired", "retired"],
      ["x+retired-permits", "retired-permits"],
    ] as const) {
      await show(page, `#/locks/${SHOP}?prefix=retired&lock=${key}`);
      await page
        .getByRole("region", { name: `Lock ${name}` })
        .getByRole("button", { name: "Delete" })
        .click();
      const dialog = page.getByRole("dialog");
      expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled(), "before the name").to.equal(true);
      await submit(page, { Confirmation: name }, "Delete");
      if (name === "retired-permits") {
        await dialog.getByRole("alert").getByText("cannot be deleted").waitFor();
        await dialog.getByLabel("Also if it is in use").check();
        await submit(page, {}, "Delete");
      }
      await page.getByText(`Lock ${name} deleted`).waitFor();
    }
    await main(page).getByText("No locks").waitFor();
    expect((await client.locks.list(SHOP, { namePrefix: "retired" })).locks).to.deep.equal([]);
  });

  it("deletes a namespace after its name, and one that has something in it only where that is asked for", async () => {
    const namespace = "retired";
    await client.keyValue.createNamespace(namespace);
    await client.keyValue.put(namespace, "last", "of its kind");
    const page = await openAsOwner();
    await show(page, "#/keys/default");
    await main(page).getByText("No keys").waitFor();
    const button = page.getByRole("button", { name: "Delete the namespace" });
    expect(await button.count(), "for the namespace that stays").to.equal(0);
    await show(page, `#/keys/${namespace}`);
    await button.click();
    await submit(page, { Confirmation: namespace }, "Delete");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("alert").getByText("1 keys").waitFor();
    await dialog.getByLabel("Also keys, locks, memory regions and event logs in it").check();
    await submit(page, {}, "Delete");
    await page.getByText(`Namespace ${namespace} deleted`).waitFor();
    expect(new URL(page.url()).hash, "another namespace").to.equal("#/keys");
    await client.keyValue.untilNamespaceDeleted(namespace);
  });

  it("names people: you, others by their addresses for those who may list users, else by the beginning of the id", async () => {
    const holder = await createUser(cluster, "holder@example.com", { role: "member", namespaces: [SHOP] });
    await client.locks.create(SHOP, "of-others");
    await acquireAs(cluster, holder, "of-others");
    const page = await openAsOwner();
    await show(page, `#/locks/${SHOP}?lock=x+of-others`);
    const held = page.getByRole("region", { name: "Lock of-others" });
    await held.getByText(holder.email).waitFor();
    expect(await held.getByText(holder.email).getAttribute("title")).to.equal(holder.userId);
    await page.getByRole("row").filter({ hasText: "of-others" }).getByText(holder.email).waitFor();
    await show(page, `#/locks/${SHOP}?lock=x+checkout-leader`);
    const own = page.getByRole("region", { name: "Lock checkout-leader" }).locator(".person");
    await own.first().waitFor();
    expect(await own.allTextContents(), "a holder and three who wait").to.deep.equal(Array(4).fill("you"));
    const viewer = await open();
    await signIn(viewer, { email: "viewer@example.com", password: "correct horse battery" });
    await viewer.getByRole("navigation", { name: "Pages" }).waitFor();
    await show(viewer, `#/locks/${SHOP}?lock=x+of-others`);
    const unknown = viewer.getByRole("region", { name: "Lock of-others" }).locator(".person");
    await unknown.waitFor();
    expect(await unknown.textContent()).to.equal(`${holder.userId.slice(0, 8)}…`);
    expect(await unknown.getAttribute("title")).to.equal(holder.userId);
  });

  it("shows the open streams of all members or of one, and names a member that does not answer", async () => {
    const leader = await cluster.leader();
    const [served, other] = cluster.members.filter(({ name }) => name !== leader.name);
    for (const member of [served, other] as const) {
      await openStream(member!);
    }
    const page = await openAsOwner("light", served);
    await show(page, "#/watches");
    const rows = page.getByRole("row").filter({ hasText: "stock/" });
    const names = async () => (await rows.locator("td:nth-child(2)").allTextContents()).sort();
    await rows.nth(1).waitFor();
    expect(await names()).to.deep.equal([served!.name, other!.name].sort());
    await page.getByLabel("Member").selectOption(other!.name);
    await rows.nth(1).waitFor({ state: "hidden" });
    await rows.first().waitFor();
    expect(await names()).to.deep.equal([other!.name]);
    await page.getByLabel("Member").selectOption("all members");
    await other!.kill();
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("region", { name: "Members that do not answer" }).getByText(other!.name).waitFor();
    await rows.first().waitFor();
    expect(await names()).to.deep.equal([served!.name]);
    other!.start();
    await other!.untilReady();
  });

  it("acquires a free lock and releases it, and says why it cannot acquire one that another got meanwhile", async () => {
    const page = await openAsOwner();
    await client.locks.create(SHOP, "by-hand");
    await show(page, `#/locks/${SHOP}?prefix=by-hand&lock=x+by-hand`);
    const panel = page.getByRole("region", { name: "Lock by-hand" });
    await panel.getByRole("button", { name: "Acquire" }).click();
    await submit(page, { Holder: "at the console", "Time to live in seconds": "600" }, "Acquire");
    await panel.getByText("at the console").waitFor();
    const { state, holder } = await client.locks.describe(SHOP, "by-hand");
    expect([state, holder?.owner]).to.deep.equal(["HELD", "at the console"]);
    await panel.getByRole("button", { name: "Release", exact: true }).click();
    await submit(page, {}, "Release");
    await panel.getByText("No one holds it.").waitFor();
    expect((await client.locks.describe(SHOP, "by-hand")).state).to.equal("FREE");
    await panel.getByRole("button", { name: "Acquire" }).click();
    await client.locks.acquire(SHOP, "by-hand", { owner: "faster", ttlSeconds: 600 });
    await submit(page, {}, "Acquire");
    await page.getByRole("dialog").getByText("The lock has another holder").waitFor();
    await page.keyboard.press("Escape");
  });

  it("creates a semaphore, acquires permits of it, and releases them", async () => {
    const page = await openAsOwner();
    await show(page, `#/locks/${SHOP}?prefix=printers`);
    await page.getByRole("button", { name: "New lock" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Semaphore" }).click();
    await submit(page, { Name: "printers", Permits: "5" }, "Create");
    await show(page, `#/locks/${SHOP}?prefix=printers&lock=x+printers`);
    const panel = page.getByRole("region", { name: "Lock printers" });
    await panel.getByText("0 of 5 held").waitFor();
    await panel.getByRole("button", { name: "Acquire" }).click();
    await submit(page, { Holder: "at the console", Permits: "4" }, "Acquire");
    await panel.getByText("4 of 5 held").waitFor();
    const { permits, heldPermits, holders } = await client.semaphores.describe(SHOP, "printers");
    expect([permits, heldPermits, holders[0]?.owner]).to.deep.equal([5, 4, "at the console"]);
    await panel.getByRole("button", { name: "Acquire" }).click();
    await submit(page, { Permits: "2" }, "Acquire");
    await page.getByRole("dialog").getByText("There are fewer free permits").waitFor();
    await page.keyboard.press("Escape");
    await panel.getByRole("button", { name: "Release", exact: true }).click();
    await submit(page, {}, "Release");
    await panel.getByText("0 of 5 held").waitFor();
    expect((await client.semaphores.describe(SHOP, "printers")).holders).to.deep.equal([]);
  });

  it("appends to an event log, and shows events as they arrive", async () => {
    const page = await openAsOwner();
    await show(page, `#/logs/${SHOP}`);
    await main(page).getByRole("link", { name: "audit" }).click();
    await page.getByLabel("Append an event").fill("opened the safe");
    await page.getByRole("button", { name: "Append" }).click();
    await main(page).locator(".event").getByText("opened the safe").waitFor();
  });

  it("shows a viewer what a viewer may see", async () => {
    const page = await open();
    await signIn(page, { email: "viewer@example.com", password: "correct horse battery" });
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    const pages = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
    // Neither watches nor backups, although there is a store.
    expect(pages).to.deep.equal([
      ...["Overview", "Keys", "Locks", "Sessions", "Memory", "Event logs", "Users and keys", "Usage", "Settings"],
    ]);
    await main(page).getByText("leader").waitFor();
    for (const [route, refusal] of [
      ["#/watches", "Only administrators see watches."],
      ["#/accounts/users", "Only administrators see users."],
      ["#/backups", "Only administrators of all namespaces see backups."],
    ] as const) {
      await show(page, route);
      await main(page).getByText(refusal).waitFor();
      await page.getByRole("heading", { name: "You may not see this page" }).waitFor();
    }
    await show(page, `#/keys/${SHOP}?prefix=config%2F&key=config%2Fcheckout`);
    await main(page).getByText("gift-cards").waitFor();
    await show(page, `#/locks/${SHOP}?lock=x+checkout-leader`);
    await main(page).getByText("checkout-e5a9").waitFor();
    for (const name of [
      "New key",
      "New lock",
      "Edit",
      "Delete",
      "Acquire",
      "Release",
      "Force release",
      "Create a namespace",
      "Delete the namespace",
    ]) {
      expect(await page.getByRole("button", { name }).count(), name).to.equal(0);
    }
    await show(page, `#/sessions/${SHOP}`);
    await main(page).getByRole("row").filter({ hasText: "payment-3b1f" }).getByRole("link").click();
    await main(page).getByText("services/payment/10.0.9.2").waitFor();
    expect(await page.getByRole("button", { name: /\bend\b/i }).count(), "buttons that end a session").to.equal(0);
    await show(page, `#/keys/${HOSTILE}`);
    await main(page)
      .getByText("NAMESPACE_DENIED")
      .or(main(page).getByText("namespace", { exact: false }))
      .first()
      .waitFor();
    expect(await main(page).getByText(MARKUP).count(), "keys of another namespace").to.equal(0);
  });

  it("keeps the page when the session ends, and goes on after the next sign-in", async () => {
    const user = await createUser(cluster, "operator@example.com", { role: "member", namespaces: [SHOP] });
    const page = await open();
    await signIn(page, user);
    await show(page, `#/keys/${SHOP}`);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("dialog").getByLabel("Key", { exact: true }).fill("kept");
    await page.getByRole("dialog").getByLabel("Value", { exact: true }).fill("what was typed before");
    await client.users.update(user.userId, { password: "another password" });
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    const again = page.getByRole("dialog", { name: "Sign in again" });
    await again.waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await again.getByLabel("Password", { exact: true }).fill("another password");
    await again.getByRole("button", { name: "Sign in" }).click();
    await main(page).getByText("what was typed before").waitFor();
    expect(await storedText("kept")).to.equal("what was typed before");
  });

  it("does nothing of one user's for another one who signs in after the session has ended", async () => {
    const first = await createUser(cluster, "first@example.com", { role: "member", namespaces: [SHOP] });
    const second = await createUser(cluster, "second@example.com", { role: "member", namespaces: [SHOP] });
    const page = await open();
    await signIn(page, first);
    await show(page, `#/keys/${SHOP}`);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("dialog").getByLabel("Key", { exact: true }).fill("of-the-first");
    await page.getByRole("dialog").getByLabel("Value", { exact: true }).fill("typed by the first user");
    await client.users.update(first.userId, { password: "another password" });
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    const again = page.getByRole("dialog", { name: "Sign in again" });
    await again.getByLabel("E-mail", { exact: true }).fill(second.email);
    await again.getByLabel("Password", { exact: true }).fill(second.password);
    await again.getByRole("button", { name: "Sign in" }).click();
    await page.getByText(second.email).waitFor();
    await main(page).getByRole("link", { name: "config/" }).waitFor();
    expect(await page.getByText("typed by the first user").count()).to.equal(0);
    const { items } = await client.keyValue.list(SHOP, { prefix: "of-the-first" });
    expect(items).to.deep.equal([]);
  });

  it(`shows a namespace of ${MANY_KEYS} keys by folders and pages`, async () => {
    const page = await openAsOwner();
    await show(page, `#/keys/${MANY}`);
    await main(page).getByText("200 keys read, there are more").waitFor();
    await page.getByRole("button", { name: "Read more" }).click();
    await main(page).getByText("1,200 keys read, there are more").waitFor();
    await main(page).getByRole("link", { name: "shard-000/" }).click();
    await main(page).getByRole("link", { name: "key-0000001", exact: true }).click();
    await main(page).getByText("value 1", { exact: true }).waitFor();
    await page.getByRole("searchbox", { name: "Prefix" }).fill("shard-001/key-000100");
    await page.getByRole("searchbox", { name: "Prefix" }).press("Enter");
    await main(page).getByRole("link", { name: "0", exact: true }).waitFor();
  });

  it("works below a path, behind a proxy", async () => {
    const { host, ports } = await cluster.follower();
    const proxy = await PathProxy.start(new URL(`http://${host}:${ports.http}`), "/teams/quoin");
    try {
      const watched = await browser.open(`${proxy.address}/console`);
      opened.push(watched);
      const { page } = watched;
      await signInByKey(page, cluster.secrets.apiKey);
      await show(page, `#/locks/${SHOP}`);
      await main(page).getByText("checkout-leader").first().waitFor();
      expect(page.url()).to.equal(`${proxy.address}/console/#/locks/${SHOP}`);
      const reference = await page.getByRole("link", { name: "API reference" }).getAttribute("href");
      expect(new URL(reference ?? "", page.url()).href).to.equal(`${proxy.address}/docs`);
    } finally {
      for (const { page } of opened) {
        await page.goto("about:blank");
      }
      await proxy.stop();
    }
  });

  it("draws the requests and the latency of each member over time", async () => {
    const page = await openAsOwner();
    await show(page, "#/overview");
    const ofMembers = cluster.members.flatMap(({ name }) => [`Requests per second of ${name}`, `Latency of ${name}`]);
    const labels = ["Requests per second", "Latency", ...ofMembers];
    for (const label of labels) {
      await untilDrawn(page, label, 2);
    }
    const charts = (await page.evaluate(`Array.from(document.querySelectorAll("main .sparkline"), (chart) => {
      const line = chart.querySelector(".sparkline-line");
      const [width, lineWidth] = [chart, line].map((one) => one.getBoundingClientRect().width);
      return { text: chart.getAttribute("aria-label"), width, lineWidth, stroke: getComputedStyle(line).stroke };
    })`)) as { text: string; width: number; lineWidth: number; stroke: string }[];
    expect(charts.map(({ text }) => text.slice(0, text.indexOf(":")))).to.have.members(labels);
    for (const { text, width, lineWidth, stroke } of charts) {
      expect(width, text).to.be.above(40);
      expect(lineWidth, text).to.be.closeTo(width, 2);
      expect(stroke, text).not.to.equal("none");
    }
    const [requests] = charts.filter(({ text }) => text.startsWith("Requests per second:"));
    expect(requests?.text, "the requests that have filled the cluster").to.match(/at most [\d.,]*[1-9]/);
  });

  it("transfers the leadership, and goes on when the leader is killed", async () => {
    const old = await cluster.leader();
    const served = await cluster.follower();
    const page = await openAsOwner("light", served);
    await show(page, "#/overview");
    const row = page.getByRole("row").filter({ hasText: served.name });
    await row.getByRole("button", { name: "Make leader" }).click();
    await submit(page, {}, "Transfer");
    await row.getByText("leader", { exact: true }).waitFor();
    expect((await cluster.leader()).name).to.equal(served.name);
    await cluster.transfer(old.name);
    await old.kill();
    await show(page, `#/keys/${SHOP}`);
    await page.getByRole("button", { name: "New key" }).click();
    await submit(page, { Key: "after-the-kill", Value: "written" }, "Create");
    await main(page).getByText("written").waitFor();
    await show(page, "#/overview");
    await page.getByRole("region", { name: "Alarms" }).getByText(`${old.name} does not answer`).waitFor();
    old.start();
    await old.untilReady();
    await page.getByRole("region", { name: "Alarms" }).waitFor({ state: "hidden" });
  });
});
