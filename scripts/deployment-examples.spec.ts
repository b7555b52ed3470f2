/** The files of the manual for machines without Kubernetes, judged by the tools that read them there. */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ajv } from "ajv";
import { expect } from "chai";
import { parse } from "yaml";
import { temporaryDirectory } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";

const EXAMPLES = path.join(repositoryRoot, "docs/examples");
/** The module whose schema Docker Compose itself uses, and the digest of the module as in a go.sum. */
const COMPOSE_MODULE = "github.com/compose-spec/compose-go/v2@v2.16.2";
const COMPOSE_SUM = "h1:pTp1DqQwJzFd85GzlWsSszKA1ABrV/ySqsClujIcWA8=";
/** Of 10, from 0 for a service without any right; systemd calls 2 the end of "OK". */
const EXPOSURE_MAX = 2;

describe("the example for Docker Compose", () => {
  const text = readFileSync(path.join(EXAMPLES, "compose.yaml"), "utf8");
  const compose = parse(text, { merge: true });

  it("is valid by the schema of the Compose specification", function () {
    const { stdout, status, error } = spawnSync("go", ["mod", "download", "-json", COMPOSE_MODULE], {
      cwd: tmpdir(),
      encoding: "utf8",
    });
    if (error !== undefined) {
      console.log("      skipped: there is no Go, which provides the schema");
      this.skip();
    }
    expect(status, stdout).to.equal(0);
    const { Dir: directory, Sum: sum } = JSON.parse(stdout);
    expect(sum).to.equal(COMPOSE_SUM);
    const schema = JSON.parse(readFileSync(path.join(directory, "schema/compose-spec.json"), "utf8"));
    const validate = new Ajv({ strict: false, validateFormats: false }).compile({ ...schema, $schema: undefined });
    expect(validate(compose), JSON.stringify(validate.errors)).to.equal(true);
    const wrong = { ...compose, services: { "q-0": { ...compose.services["q-0"], healthcheck: { tests: [] } } } };
    expect(validate(wrong), "a wrong field is noticed").to.equal(false);
  });

  it("gives each member its own files alone, and none the key of the authority", () => {
    const volumes = Object.values<{ volumes: string[] }>(compose.services).flatMap(({ volumes }) => volumes);
    const names = ["q-0", "q-1", "q-2"];
    expect(volumes.filter((volume) => volume.includes("tls/")).sort()).to.deep.equal([
      "./tls/ca.crt:/etc/quoin/ca.crt:ro",
      ...names.map((name) => `./tls/${name}:/etc/quoin/tls:ro`),
    ]);
    for (const { secrets } of Object.values<{ secrets: string[] }>(compose.services)) {
      expect(Object.keys(compose.secrets)).to.include.members(secrets);
    }
  });
});

describe("the example for systemd", () => {
  const unit = readFileSync(path.join(EXAMPLES, "quoin.service"), "utf8");
  let directory: string;

  before(function () {
    if (spawnSync("systemd-analyze", ["--version"]).error !== undefined) {
      console.log("      skipped: there is no systemd-analyze");
      this.skip();
    }
    directory = temporaryDirectory();
  });

  function analyze(verb: string, ...options: string[]): string {
    const file = path.join(directory, "quoin.service");
    // The program is not installed here.
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"));
    const { stdout, stderr, status } = spawnSync("systemd-analyze", [verb, ...options, file], { encoding: "utf8" });
    expect(status, stdout + stderr).to.equal(0);
    return stdout + stderr;
  }

  it("is a valid unit", () => {
    expect(analyze("verify", "--recursive-errors=no")).to.equal("");
  });

  it("leaves the service few rights", () => {
    const report = analyze("security", "--offline=true", "--no-pager");
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? [];
    expect(Number(exposure)).to.be.lessThan(EXPOSURE_MAX);
  });
});
