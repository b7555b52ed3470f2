/** The files of the manual for a cluster without Kubernetes, used as the page says, on real processes. */

import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { parse } from "yaml";
import { temporaryDirectory } from "../../../testing/index.ts";
import { claimedBasePort, MEMBER_PROGRAM, QUOINCTL_PROGRAM, TestProcess } from "../harness/index.ts";
import { whyNoCertificates } from "../peers/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const EXAMPLES = join(ROOT, "docs/examples");
const QUOIN_FOUND = join(ROOT, "client/scripts/quoin-found.ts");
const NAMES = ["q-0", "q-1", "q-2"];
const FIRST_PORT = 7400;
/** Distance between the ports of two members of the test. */
const PORTS_PER_MEMBER = 10;

interface ComposeService {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
}

/** The words of a command without characters that a shell would interpret, except for quotes. */
function wordsOf(command: string): string[] {
  return command
    .replaceAll(/["'\\]/g, "")
    .trim()
    .split(/\s+/);
}

describe("the example of certificates", () => {
  it("names hosts by their DNS names, and by addresses of both kinds", function () {
    if (whyNoCertificates() !== null) {
      this.skip();
    }
    const cwd = temporaryDirectory();
    const hosts = ["q-0.example.com", "10.0.0.5", "fd00::5", "5.example.com"];
    execFileSync("sh", [join(EXAMPLES, "certificates.sh"), "tls", ...hosts], { cwd, stdio: "pipe" });
    const authority = new X509Certificate(readFileSync(join(cwd, "tls/ca.crt")));
    for (const host of hosts) {
      const certificate = new X509Certificate(readFileSync(join(cwd, "tls", host, "tls.crt")));
      const isAddress = isIP(host) !== 0;
      expect(isAddress ? certificate.checkIP(host) : certificate.checkHost(host), host).to.equal(host);
      expect(certificate.subjectAltName, "no address as a DNS name").to.match(isAddress ? /^IP Address:/ : /^DNS:/);
      expect(certificate.verify(authority.publicKey)).to.equal(true);
    }
  });
});

describe("the examples of the manual without Kubernetes", function () {
  this.timeout(180_000);

  const compose: Compose = parse(readFileSync(join(EXAMPLES, "compose.yaml"), "utf8"), { merge: true });
  const unit = readFileSync(join(EXAMPLES, "quoin.service"), "utf8");
  const members = new Map<string, TestProcess>();
  let directory: string;
  let basePort: number;

  /** The member's command of the compose file, without the program. */
  function commandOf(name: string): string {
    const { command = [], environment = {} } = compose.services[name] ?? {};
    expect(environment.MEMBER).to.equal(name);
    const [shell, option, text = ""] = command;
    expect([shell, option]).to.deep.equal(["sh", "-c"]);
    const [, program, flags] = /^exec (\S+)\s+([\s\S]*)$/.exec(text.replaceAll("$$MEMBER", name)) ?? [];
    expect(program).to.equal("quoin-node");
    return flags ?? "";
  }

  const portOf = (name: string, port: number): number =>
    basePort + NAMES.indexOf(name) * PORTS_PER_MEMBER + port - FIRST_PORT;

  function start(name: string): void {
    const onThisMachine = commandOf(name)
      .replaceAll(/(q-\d|\*):(74\d\d)/g, (_, host, port) => `127.0.0.1:${portOf(host === "*" ? name : host, +port)}`)
      .replaceAll("/var/lib/quoin", join(directory, "data", name))
      .replaceAll("/run/secrets", directory)
      .replaceAll("/etc/quoin/tls", join(directory, "tls", name));
    members.set(name, new TestProcess(MEMBER_PROGRAM, [...wordsOf(onThisMachine), "--no-disk-reserve"]));
  }

  async function stop(name: string): Promise<void> {
    const child = members.get(name);
    child?.signal("SIGTERM");
    expect((await child?.ended)?.code, child?.stdout).to.equal(0);
    await child?.dispose();
  }

  /** The arguments of the service that founds the cluster. */
  function foundingArguments(): string[] {
    const [program, ...args] = compose.services.found?.command ?? [];
    expect(program).to.equal("quoin-found");
    return args.map((text) =>
      text
        .replace("q-0:7403", `localhost:${portOf("q-0", 7403)}`)
        .replace("/etc/quoin/ca.crt", "tls/ca.crt")
        .replace("/run/secrets/", "")
        .replace("/owner/", ""),
    );
  }

  /** Runs the program to its end, and returns what it printed. */
  async function outputOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const child = new TestProcess(program, args, { cwd: directory, env: { ...process.env, HOME: directory, ...env } });
    try {
      const { code } = await child.ended;
      expect(code, `${child.stdout}\n${child.stderr}`).to.equal(0);
      return child.stdout;
    } finally {
      await child.dispose();
    }
  }

  function quoinctl(...args: string[]): Promise<string> {
    const QUOIN_ENDPOINTS = NAMES.map((name) => `127.0.0.1:${portOf(name, FIRST_PORT)}`).join(",");
    const QUOIN_API_KEY = JSON.parse(readFileSync(join(directory, "owner.json"), "utf8")).apiKey;
    return outputOf(QUOINCTL_PROGRAM, ["--ca", "tls/ca.crt", "--timeout", "60s", ...args], {
      QUOIN_ENDPOINTS,
      QUOIN_API_KEY,
    });
  }

  before(async function () {
    if (whyNoCertificates() !== null) {
      this.skip();
    }
    directory = temporaryDirectory();
    basePort = await claimedBasePort();
    execFileSync("sh", [join(EXAMPLES, "certificates.sh"), "tls", ...NAMES], { cwd: directory, stdio: "pipe" });
    for (const token of ["join-token", "admin-token"]) {
      writeFileSync(join(directory, token), execFileSync("openssl", ["rand", "-hex", "32"]), { mode: 0o600 });
    }
    mkdirSync(join(directory, "data"));
  });

  afterEach(function () {
    if (this.currentTest?.state === "failed") {
      console.log([...members].map(([name, { stdout, stderr }]) => `${name}:\n${stdout}\n${stderr}`).join("\n"));
    }
  });

  after(() => Promise.all([...members.values()].map((child) => child.dispose())));

  it("found a cluster of three with TLS, whatever was interrupted", async () => {
    start("q-0");
    await members.get("q-0")?.untilPrinted('"msg":"listening"');
    const found = foundingArguments();
    const first = await outputOf(QUOIN_FOUND, found);
    expect(await outputOf(QUOIN_FOUND, found)).to.equal(first);
    for (const name of ["q-1", "q-2"]) {
      await quoinctl("member", "add", name);
      start(name);
    }
    await quoinctl("member", "promote", "q-1", "q-2", "--wait", "60s");
    expect((await quoinctl("member", "list")).match(/\b(leader|voter)\b/g)).to.have.lengthOf(NAMES.length);
    await quoinctl("kv", "put", "default/greeting", "hello");
  });

  it("found nothing with a file of the owner that is incomplete, and name the file", async () => {
    const incomplete = "incomplete.json";
    writeFileSync(join(directory, incomplete), '{ "clusterId": "');
    const child = new TestProcess(QUOIN_FOUND, [...foundingArguments(), "--owner-file", incomplete], {
      cwd: directory,
    });
    const { code } = await child.ended;
    await child.dispose();
    expect([code, child.stdout]).to.deep.equal([1, ""]);
    expect(child.stderr).to.match(/^quoin-found: incomplete\.json must have clusterId, email, password and apiKey/);
  });

  it("check the health of a member", () => {
    const [kind, program = "", option = "", script = ""] = compose.services["q-1"]?.healthcheck.test ?? [];
    expect([kind, program]).to.deep.equal(["CMD", "node"]);
    const checkOf = (port: number) => () =>
      execFileSync(process.execPath, [option, script.replace("7404", String(port))], { stdio: "pipe" });
    checkOf(portOf("q-1", 7404))();
    expect(checkOf(portOf("q-2", 7405)), "where nothing listens").to.throw();
  });

  it("replace a member whose data is gone", async () => {
    await stop("q-2");
    await quoinctl("member", "remove", "q-2");
    rmSync(join(directory, "data", "q-2"), { recursive: true });
    await quoinctl("member", "add", "q-2");
    start("q-2");
    await quoinctl("member", "promote", "q-2", "--wait", "60s");
    expect(await quoinctl("kv", "get", "default/greeting")).to.equal("hello\n");
    expect((await quoinctl("status")).match(/\bRUNNING\b/g)).to.have.lengthOf(NAMES.length);
  });

  it("start members with the same flags under systemd as in containers", () => {
    const [, command = ""] = /^ExecStart=\S+\/quoin member([\s\S]*?[^\\])$/m.exec(unit) ?? [];
    const inUnit = wordsOf(command.replaceAll("%H", "q-0"))
      .join(" ")
      .replaceAll("/var/lib/quoin/data", "/var/lib/quoin")
      .replaceAll(/\/etc\/quoin\/(?=join|admin)/g, "/run/secrets/");
    expect(inUnit).to.equal(wordsOf(commandOf("q-0")).join(" "));
  });
});
