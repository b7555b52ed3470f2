/**
 * A real Chromium for a test, which the machine must have. Pages report everything that a console must never do: errors of
 * scripts, violations of the page's policy, and requests to other origins.
 */

import { accessSync, constants } from "node:fs";
import path from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** First Chromium without windows: with them, each profile costs a second of a processor more, for parts that no one sees. */
const PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** A root user has no sandbox; shared memory may be small in a container. */
const FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"];
const ACTION_TIMEOUT_MS = 40_000;

/** The path of a Chromium on this machine; undefined if there is none. `QUOIN_CHROMIUM` names one elsewhere. */
export function findChromium(): string | undefined {
  const given = process.env.QUOIN_CHROMIUM;
  const directories = (process.env.PATH ?? "").split(path.delimiter);
  const candidates = PROGRAMS.flatMap((name) => directories.map((directory) => path.join(directory, name)));
  return (given === undefined ? candidates : [given]).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export type ColorScheme = "light" | "dark";

/** A page, and what it did that it must not do. */
export interface WatchedPage {
  readonly page: Page;
  /** Empty as long as all is well. */
  readonly problems: readonly string[];
}

export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(executablePath: string): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath, args: FLAGS }));
  }

  /**
   * Opens an address in a new profile. Requests to another origin fail and count as a problem, except to those that the
   * page may call.
   */
  async open(
    address: string,
    colorScheme: ColorScheme = "light",
    callable: readonly string[] = [],
  ): Promise<WatchedPage> {
    const context = await this.#browser.newContext({
      colorScheme,
      viewport: { width: 1_360, height: 850 },
      locale: "en-US",
      timezoneId: "UTC",
    });
    context.setDefaultTimeout(ACTION_TIMEOUT_MS);
    const problems: string[] = [];
    await refuseOtherOrigins(context, new Set([new URL(address).origin, ...callable]), problems);
    const page = await context.newPage();
    page.on("pageerror", (error) => problems.push(`error: ${error.stack ?? error.message}`));
    page.on("dialog", (dialog) => {
      problems.push(`a script opened a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      // The browser itself reports answers with an error status, which some tests cause.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        problems.push(`console: ${message.text()}`);
      }
    });
    await page.addInitScript({
      content: `document.addEventListener("securitypolicyviolation", (event) =>
        console.error("policy violated: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
    });
    await page.goto(address);
    return { page, problems };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

async function refuseOtherOrigins(
  context: BrowserContext,
  origins: ReadonlySet<string>,
  problems: string[],
): Promise<void> {
  await context.route(
    (url) => !origins.has(url.origin),
    async (route) => {
      problems.push(`a request to another origin: ${route.request().url()}`);
      await route.abort();
    },
  );
}
