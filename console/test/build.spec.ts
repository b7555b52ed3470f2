import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { buildConsole } from "../scripts/index.ts";

/** A slow connection loads this in a second; a new dependency must not multiply it unnoticed. */
const SCRIPT_BYTES_MAX = 64 * 1_024;

describe("the build of the console", () => {
  let root: string;
  let directory: string;

  before(async () => {
    root = temporaryDirectory();
    directory = path.join(root, "built");
    expect(await buildConsole(directory), "built").to.equal(true);
  });

  function read(name: string): Buffer {
    return readFileSync(path.join(directory, name));
  }

  it("happens only if the sources have changed, and leaves nothing else behind", async () => {
    expect(await buildConsole(directory)).to.equal(false);
    expect(readdirSync(root)).to.deep.equal(["built"]);
  });

  it("makes a page that names its files by relative addresses, and has no script or style of its own", () => {
    const page = read("index.html").toString();
    const addresses = [...page.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.sort()).to.deep.equal(
      readdirSync(path.join(directory, "assets"))
        .filter((name) => !/\.(?:br|gz)$/.test(name))
        .map((name) => `assets/${name}`)
        .sort(),
    );
    expect(addresses).to.have.length(3);
    expect(page).to.match(/<script type="module" src="[^"]+"><\/script>/);
    expect(page).not.to.match(/<style|style=|<script>| on\w+=/);
  });

  it("names each file by its content, and writes it in every encoding that members serve", () => {
    for (const name of readdirSync(path.join(directory, "assets")).filter((file) => !/\.(?:br|gz)$/.test(file))) {
      expect(name).to.match(/^[a-z]+-[0-9A-Za-z]{8,}\.(?:js|css|svg)$/);
      const content = read(`assets/${name}`);
      expect(brotliDecompressSync(read(`assets/${name}.br`)).equals(content), name).to.equal(true);
      expect(gunzipSync(read(`assets/${name}.gz`)).equals(content), name).to.equal(true);
    }
  });

  it("keeps the script small, and names the licenses of what it contains", () => {
    const [script = ""] = readdirSync(path.join(directory, "assets")).filter((name) => name.endsWith(".js.br"));
    expect(read(`assets/${script}`).length).to.be.below(SCRIPT_BYTES_MAX);
    expect(read("LICENSES.txt").toString()).to.include("preact\n").and.to.include("MIT");
  });
});
