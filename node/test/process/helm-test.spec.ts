/** The script of `helm test`, run against a real member: it passes repeatedly, and fails when something is wrong. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { programOf, temporaryDirectory } from "../../../testing/index.ts";
import { ClusterUnderTest, QUOINCTL_PROGRAM } from "../harness/index.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SCRIPT = readFileSync(path.join(ROOT, "charts/quoin-cluster/files/test.sh"), "utf8");

/** Runs the script as the pod does, with the quoinctl in `bin`. */
function runScript(
  bin: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ failed: boolean; output: string }> {
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}`, ...environment };
  return new Promise((resolve) => {
    execFile("sh", ["-c", SCRIPT], { env }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, output: `${stdout}${stderr}` }),
    );
  });
}

describe("the test of an installed cluster", () => {
  it("passes through each Service, repeatedly, and fails with an unknown key", async function () {
    this.timeout(240_000);
    const bin = temporaryDirectory();
    const quoinctl = `#!/bin/sh\nexec "${process.execPath}" "${programOf(QUOINCTL_PROGRAM)}" "$@"\n`;
    writeFileSync(path.join(bin, "quoinctl"), quoinctl, { mode: 0o700 });
    await ClusterUnderTest.with(1, async ({ members: [member], secrets }) => {
      const { host = "", ports } = member ?? {};
      const environment = {
        SERVICES: `${host} ${host}`,
        SCHEME: "http",
        GRPC_PORT: String(ports?.grpc),
        HTTP_PORT: String(ports?.http),
        QUOIN_API_KEY: secrets.apiKey,
      };
      const { failed, output } = await runScript(bin, environment);
      expect(failed, output).to.equal(false);
      expect(output.match(/^ok: .*$/gm)).to.have.length(14);
      expect(output).to.match(/^all is well$/m);
      expect(output).to.not.include(secrets.apiKey);
      const stranger = await runScript(bin, { ...environment, QUOIN_API_KEY: `${secrets.apiKey.slice(0, -4)}AAAA` });
      expect(stranger.failed, stranger.output).to.equal(true);
      expect(stranger.output).to.match(/^FAILED: /m);
    });
  });
});
