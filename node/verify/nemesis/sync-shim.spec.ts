import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { until } from "../../test/harness/index.ts";
import { succeeds } from "./command.ts";
import { compileSyncShim, SyncControl } from "./sync-shim.ts";

/** Makes a file durable, and prints the result. */
const PROGRAM = `
  const fs = require("node:fs");
  const file = fs.openSync(process.argv[1], "w");
  try { fs.fsyncSync(file); fs.fdatasyncSync(file); console.log("durable"); } catch (error) { console.log(error.code); }`;

describe("control over syncs", function () {
  // A compiler may be slow on a busy machine.
  this.timeout(60_000);
  let directory: string;
  let control: SyncControl;

  before(async function () {
    if (process.platform !== "linux" || !(await succeeds("cc", ["--version"]))) {
      console.log("      skipped: no C compiler, or not Linux");
      return this.skip();
    }
    directory = temporaryDirectory();
    control = new SyncControl(join(directory, "control"), await compileSyncShim(directory));
  });
  beforeEach(() => control.set("pass"));

  function syncing(): { readonly told: Promise<string> } {
    const options = { env: { ...process.env, ...control.environment } };
    const child = spawn(process.execPath, ["-e", PROGRAM, join(directory, "file")], options);
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    return { told: once(child, "close").then(() => text.trim()) };
  }

  it("lets them pass, and counts nothing", async () => {
    expect(await syncing().told).to.equal("durable");
    expect([control.waited, control.failed]).to.deep.equal([0, 0]);
  });

  it("lets them fail, and counts them", async () => {
    const before = control.failed;
    control.set("fail");
    expect(await syncing().told).to.equal("EIO");
    expect(control.failed).to.equal(before + 1);
  });

  it("lets them wait until they may pass, and counts them", async () => {
    const before = control.waited;
    control.set("wait");
    const { told } = syncing();
    let isOver = false;
    void told.then(() => {
      isOver = true;
    });
    await until("a sync to wait", () => control.waited === before + 1);
    expect(isOver).to.equal(false);
    control.set("pass");
    expect(await told).to.equal("durable");
  });
});
