import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect } from "chai";
import { programOf } from "../../testing/index.ts";
import { parseConfiguration } from "./configuration.ts";

const NEEDED = ["--name", "quoin-operator-1", "--namespace", "quoin-system"];

describe("configuration of the operator", () => {
  it("needs a name and a namespace, and has a default for everything else", () => {
    expect(parseConfiguration(NEEDED, "1.4.0")).to.deep.equal({
      instance: "quoin-operator-1",
      namespace: "quoin-system",
      watchNamespaces: [],
      clusterDomain: "cluster.local",
      manualUrl: "",
      leaseName: "quoin-operator",
      memberVersion: "1.4.0",
      memberRepository: "quoin",
      health: { host: "*", port: 8080 },
      logLevel: "info",
    });
  });

  it("takes the values of its flags", () => {
    const told = [
      ...["--watch-namespace", "a", "--watch-namespace", "b", "--cluster-domain", "example"],
      ...["--lease-name", "l", "--member-version", "1.3.0", "--member-image", "r.example/quoin"],
      ...["--health", "[::1]:0", "--log-level", "debug", "--manual-url", "https://docs.example/quoin/"],
    ];
    expect(parseConfiguration([...NEEDED, ...told], "1.4.0")).to.deep.equal({
      instance: "quoin-operator-1",
      namespace: "quoin-system",
      watchNamespaces: ["a", "b"],
      clusterDomain: "example",
      leaseName: "l",
      memberVersion: "1.3.0",
      memberRepository: "r.example/quoin",
      health: { host: "::1", port: 0 },
      logLevel: "debug",
      manualUrl: "https://docs.example/quoin",
    });
  });

  it("is refused with an argument that is not UTF-8", () => {
    const shell = 'exec "$0" "$@" --lease-name "$(printf "caf\\351")"';
    const main = programOf(path.join(import.meta.dirname, "main.ts"));
    const { status, stderr } = spawnSync("sh", ["-c", shell, process.execPath, main, ...NEEDED], { encoding: "utf8" });
    expect(stderr).to.equal("error: an argument is not UTF-8, or has the character U+FFFD: caf\ufffd\n");
    expect(status).to.equal(1);
  });
});
