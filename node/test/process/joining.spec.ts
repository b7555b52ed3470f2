/** The program of a joining member: its output, and how it ends when it does not belong to the cluster any more. */

import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAdminClient } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { readCluster } from "../../src/state/index.ts";
import { claimedBasePort, InProcessMember, JOIN_TOKEN, TestProcess, until } from "../harness/index.ts";
import { TestAuthority, whyNoCertificates } from "../peers/index.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const ANY = "127.0.0.1:0";
const ADMIN_TOKEN = "an-admin-token";

describe("the program of a member that joins", function () {
  this.timeout(120_000);
  let directory: string;
  let tokens: string;
  let adminTokens: string;
  let founder: InProcessMember;
  const running = TestProcess.ofEachTest();

  beforeEach(async () => {
    directory = temporaryDirectory();
    tokens = join(directory, "tokens");
    writeFileSync(tokens, `${JOIN_TOKEN}\n`, { mode: 0o600 });
    adminTokens = join(directory, "admin-tokens");
    writeFileSync(adminTokens, `${ADMIN_TOKEN}\n`, { mode: 0o600 });
    founder = new InProcessMember("q-0", join(directory, "founder"));
    await founder.start([]);
    await founder.found();
  });

  afterEach(() => founder.stop());

  function run(dataDirectory: string, ...args: string[]): TestProcess {
    const child = new TestProcess(MAIN, [
      ...["--name", "q-1", "--cluster-name", "spec", "--data-dir", join(directory, dataDirectory)],
      ...["--grpc", ANY, "--http", ANY, "--peer", ANY, "--join-token-file", tokens, "--seed", founder.endpoint],
      ...args,
    ]);
    running.push(child);
    return child;
  }

  it("claims the slot that is added for it, and ends with exit code 74 when it is removed, now and at each start", async () => {
    const child = run("data");
    await child.untilPrinted("waiting to be added");
    const id = await founder.change({ kind: "add-slot", name: "q-1" });
    await child.untilPrinted('"state":"RUNNING"');
    await founder.change({ kind: "reconfigure", promote: [], demote: [], remove: [id] });
    expect(await child.ended).to.deep.equal({ code: 74, signal: null });
    const again = run("data");
    expect(await again.ended).to.deep.equal({ code: 74, signal: null });
    expect(again.stdout).to.include("MEMBER_REMOVED").and.to.include("empty directory");
    expect(child.stdout + again.stdout).to.not.include(JOIN_TOKEN);
  });

  it("P46: stays up, unready, with an empty directory in place of the one that was given its slot", async () => {
    const id = await founder.change({ kind: "add-slot", name: "q-1" });
    const first = run("data");
    await first.untilPrinted('"state":"RUNNING"');
    first.signal("SIGTERM");
    expect(await first.ended).to.deep.equal({ code: 0, signal: null });
    const wiped = run("other", "--health", ANY);
    await wiped.untilPrinted("MEMBER_DATA_LOST");
    expect(wiped.stdout).to.include(`remove member ${id}`);
    const line = wiped.stdout.split("\n").find((text) => text.includes('"msg":"listening"')) ?? "";
    const ready = await fetch(`http://${JSON.parse(line).health}/readyz?verbose`);
    expect([ready.status, await ready.text()].join(" ")).to.match(/^503 .*MEMBER_DATA_LOST/s);
    expect((await fetch(`http://${JSON.parse(line).health}/startupz`)).status).to.equal(200);
    await founder.change({ kind: "reconfigure", promote: [], demote: [], remove: [id] });
    await founder.change({ kind: "add-slot", name: "q-1" });
    await wiped.untilPrinted('"state":"RUNNING"');
  });

  it("stays up with an admin port when it is removed, and reports it", async () => {
    const id = await founder.change({ kind: "add-slot", name: "q-1" });
    const child = run("data", "--admin", ANY, "--admin-token-file", adminTokens, "--health", ANY);
    await child.untilPrinted('"state":"RUNNING"');
    await founder.change({ kind: "reconfigure", promote: [], demote: [], remove: [id] });
    await child.untilPrinted("MEMBER_REMOVED");
    const line = child.stdout.split("\n").find((text) => text.includes('"msg":"listening"')) ?? "";
    const ready = await until("its health", () => fetch(`http://${JSON.parse(line).health}/readyz?verbose`));
    expect([ready.status, await ready.text()].join(" ")).to.match(/^503 .*MEMBER_REMOVED/s);
    expect((await fetch(`http://${JSON.parse(line).health}/startupz`)).status).to.equal(200);
    child.signal("SIGTERM");
    expect(await child.ended).to.deep.equal({ code: 0, signal: null });
  });

  for (const [hint, host] of [
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "*"],
    ["::1", "*"],
    ["::1", "[::1]"],
  ] as const) {
    it(`is reached at ${hint}, which it reports while its name is unknown, when it listens at ${host}`, async function () {
      if (!addressesOfMachine().includes(hint)) {
        console.log(`      skipped: this machine has no ${hint}`);
        this.skip();
      }
      const port = await claimedBasePort();
      await founder.change({ kind: "add-slot", name: "q-1" });
      const joiner = run(
        ...(["data", "--peer", `${host}:${port}`, "--advertise-peer", `q-1.invalid:${port}`] as const),
        ...["--dial-hint", hint],
      );
      // It is there only after the founder has sent the entry that makes it a member.
      await joiner.untilPrinted('"state":"RUNNING"');
      const record = readCluster(founder.replica.state)?.members.find(({ name }) => name === "q-1");
      expect(record?.address.peerEndpoint).to.equal(`q-1.invalid:${port}`);
    });
  }

  it("ends with exit code 73 where its data is of another cluster than is recorded, or stays up with an admin port", async () => {
    await founder.change({ kind: "add-slot", name: "q-1" });
    const record = join(directory, "identity");
    mkdirSync(record);
    const first = run("data", "--founding-record", record);
    await first.untilPrinted('"state":"RUNNING"');
    first.signal("SIGTERM");
    expect(await first.ended).to.deep.equal({ code: 0, signal: null });
    const facts = { clusterId: crypto.randomUUID(), founder: "q-0", founderIncarnation: "-" };
    for (const [name, text] of Object.entries(facts)) {
      writeFileSync(join(record, name), text);
    }
    const second = run("data", "--founding-record", record);
    expect(await second.ended).to.deep.equal({ code: 73, signal: null });
    expect(second.stdout).to.include("WRONG_CLUSTER").and.include(facts.clusterId);
    const flags = ["--founding-record", record, "--admin", ANY, "--admin-token-file", adminTokens, "--health", ANY];
    const third = run("data", ...flags);
    await third.untilPrinted('"msg":"listening"');
    const line = third.stdout.split("\n").find((text) => text.includes('"msg":"listening"')) ?? "";
    const { admin, health } = JSON.parse(line);
    expect((await fetch(`http://${health}/startupz`)).status).to.equal(200);
    expect((await fetch(`http://${health}/readyz`)).status).to.equal(503);
    const client = createAdminClient({ endpoint: admin, credentials: { token: ADMIN_TOKEN } });
    try {
      expect((await client.getStatus()).status.state).to.equal("WRONG_CLUSTER");
    } finally {
      client.close();
    }
    writeFileSync(join(record, "clusterId"), founder.member.clusterId);
    await third.untilPrinted('"state":"RUNNING"');
  });

  it("joins with certificates, and without one is not let in", async function () {
    const reason = whyNoCertificates();
    if (reason !== null) {
      this.skip();
    }
    const authority = new TestAuthority(directory, "authority");
    const certificate = (name: string) => authority.issue(name, ["IP:127.0.0.1"]);
    await founder.stop();
    const tls = { files: certificate("q-0"), joinNamePattern: "127.0.0.1" };
    await founder.start([], {
      peering: { seeds: [], joinTokens: () => [JOIN_TOKEN], tls, random: Math.random, dialHint: null },
    });
    await until("the founder to lead again", () => founder.replica.status().isServing);
    await founder.change({ kind: "add-slot", name: "q-1" });
    const plain = run("plain");
    await plain.untilPrinted("a seed does not answer");
    await plain.dispose();
    const { certificate: cert, key, authorities } = certificate("q-1");
    const secure = run(
      ...(["data", "--peer-cert", cert, "--peer-key", key, "--peer-ca", authorities] as const),
      ...["--peer-join-name", "127.0.0.1", "--admin", ANY, "--admin-token-file", adminTokens],
    );
    await secure.untilPrinted('"state":"RUNNING"');
    const line = secure.stdout.split("\n").find((text) => text.includes('"msg":"listening"')) ?? "";
    const client = createAdminClient({ endpoint: JSON.parse(line).admin, credentials: { token: ADMIN_TOKEN } });
    try {
      const { status } = await client.getStatus();
      const shown = new X509Certificate(readFileSync(cert));
      const trusted = new X509Certificate(readFileSync(authorities));
      expect([status.certificateSerial, status.trustedCas]).to.deep.equal([
        shown.serialNumber.toLowerCase(),
        [trusted.fingerprint256.replaceAll(":", "").toLowerCase()],
      ]);
    } finally {
      client.close();
    }
  });
});

function addressesOfMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
}
