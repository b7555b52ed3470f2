/** The load of the scenarios, as a pod gets it. It runs in Kubernetes alone; here it is checked that it could. */

import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { bundleLoad } from "../kubernetes/load/index.ts";

/** What Kubernetes accepts as the content of a ConfigMap. */
const CONFIG_MAP_BYTES_MAX = 1_048_576;

describe("bundleLoad", () => {
  it("makes a program that needs no package, and that a ConfigMap can hold", async () => {
    const program = await bundleLoad();
    expect(Buffer.byteLength(program)).to.be.lessThan(CONFIG_MAP_BYTES_MAX);
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-"], {
      cwd: "/",
      input: program,
      env: {},
      encoding: "utf8",
    });
    expect(status).to.equal(1);
    expect(stderr).to.include("Error: QUOIN_CA_FILE is not set");
  });
});
