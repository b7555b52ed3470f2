/** The client of members against a real member, over TLS with the operator's certificates. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { Agent, request } from "undici";
import { programOf, temporaryDirectory } from "../../../testing/index.ts";
import { clusterOf } from "../../test/index.ts";
import { planCertificates } from "../certificates/index.ts";
import type { MemberAddress } from "./member-channels.ts";
import { MemberClient } from "./member-client.ts";
import { MemberError } from "./member-error.ts";

const MEMBER = path.resolve(import.meta.dirname, "../../../node/src/main.ts");
const TOKEN = "an-admin-token-of-this-spec-and-no-other";

describe("a member as it is", () => {
  const client = new MemberClient();
  const folder = temporaryDirectory();
  let member: ChildProcess;
  let address: MemberAddress;
  let httpEndpoint = "";

  function file(name: string, content = ""): string {
    const place = path.join(folder, name);
    if (content !== "") {
      writeFileSync(place, content);
    }
    return place;
  }

  before(async () => {
    const pass = { now: Date.now(), cluster: clusterOf(), clusterDomain: "cluster.local", reports: new Map() };
    const { writes } = await planCertificates({ ...pass, authority: null, server: null, trust: null });
    const made = new Map(writes.map(({ kind, name, data }) => [`${kind}/${name}`, data]));
    const authorities = made.get("ConfigMap/demo-ca")?.["ca.crt"] ?? "";
    const { "tls.crt": certificate = "", "tls.key": key = "" } = made.get("Secret/demo-server-tls") ?? {};
    const anyPort = ["grpc", "http", "peer", "admin"].map((port) => `--${port}=127.0.0.1:0`);
    member = spawn(
      process.execPath,
      [
        ...[programOf(MEMBER), "--name=demo-0", "--cluster-name=demo", `--data-dir=${file("data")}`, ...anyPort],
        ...[
          `--admin-token-file=${file("admin", TOKEN)}`,
          `--join-token-file=${file("join", "a-join-token-of-a-spec")}`,
        ],
        ...[`--tls-cert=${file("tls.crt", certificate)}`, `--tls-key=${file("tls.key", key)}`],
        ...["--no-disk-reserve", "--until-stdin-ends"],
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    for await (const line of createInterface({ input: member.stdout ?? process.stdin })) {
      const { msg, admin, http } = JSON.parse(line);
      if (msg === "listening") {
        httpEndpoint = http;
        const serverName = "demo-0.demo-peers.default.svc";
        address = { endpoint: admin, serverName, authorities, token: TOKEN };
        break;
      }
    }
    member.stdout?.resume();
  });

  after(async () => {
    client.close();
    if (member.exitCode === null) {
      member.kill("SIGKILL");
      await once(member, "exit");
    }
  });

  async function refusal(work: Promise<unknown>): Promise<[string, string]> {
    try {
      await work;
    } catch (error) {
      if (error instanceof MemberError) {
        return [error.code, error.reason];
      }
      throw error;
    }
    return ["OK", ""];
  }

  it("is founded, changed and asked as the operator does it", async () => {
    const empty = await client.status(address);
    expect(empty.report.state).to.equal("EMPTY");
    expect(empty.report).to.not.have.any.keys("clusterId", "memberId", "configuration");
    expect(await refusal(client.configuration(address))).to.include("UNAVAILABLE");

    const clusterId = randomUUID();
    const owner = { email: "a@b.example", password: "correct horse", apiKey: `qk_12345678_${"a".repeat(43)}` };
    const founding = { clusterId, incarnation: empty.report.incarnation, owner };
    const wrong = {
      ...founding,
      incarnation: empty.report.incarnation.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
    };
    expect((await refusal(client.bootstrap(address, wrong)))[0]).to.equal("INVALID_ARGUMENT");
    await client.bootstrap(address, founding);
    await client.bootstrap(address, founding);

    const { members, index, term, leaderId, changing } = await client.configuration(address);
    expect(members).to.have.length(1);
    expect(members[0]).to.deep.include({
      name: "demo-0",
      voter: true,
      incarnation: empty.report.incarnation,
      id: leaderId,
    });
    expect(changing).to.equal(false);
    const running = await client.status(address);
    expect(running.report).to.deep.include({ state: "RUNNING", clusterId, memberId: leaderId });
    expect([running.leads, running.report.configuration?.index]).to.deep.equal([true, index]);

    await client.addSlot(address, "demo-1", index);
    expect(await refusal(client.addSlot(address, "demo-2", index))).to.deep.equal([
      "FAILED_PRECONDITION",
      "CONFIG_CHANGED",
    ]);
    const grown = await client.configuration(address);
    const slot = grown.members.find(({ name }) => name === "demo-1");
    expect(slot).to.deep.include({ voter: false, promotable: false });
    expect(slot).to.not.have.property("incarnation");
    const ids = [slot?.id ?? 0];
    expect((await refusal(client.promote(address, ids, grown.index)))[1]).to.equal("LEARNER_NOT_READY");
    expect((await refusal(client.remove(address, [leaderId], grown.index)))[0]).to.equal("FAILED_PRECONDITION");
    await client.remove(address, ids, grown.index);
    expect((await refusal(client.transfer(address, leaderId, term + 7)))[0]).to.equal("FAILED_PRECONDITION");

    const settings = new Map([["token.lifetime_secs", "60"]]);
    const revision = await client.putSettings(address, settings, running.report.settingsRevision);
    expect(await client.putSettings(address, settings, revision)).to.equal(revision);
    expect((await client.status(address)).report.settingsRevision).to.equal(revision);
  }).timeout(30_000);

  it("takes another password for its owner, who can then log in only with that one", async () => {
    const { authorities, serverName } = address;
    const dispatcher = new Agent({ connect: { ca: authorities ?? "", servername: serverName } });
    const login = async (password: string): Promise<number> => {
      const body = JSON.stringify({ email: "a@b.example", password });
      const headers = { "content-type": "application/json" };
      const url = `https://${httpEndpoint}/auth/login`;
      const answer = await request(url, { method: "POST", dispatcher, headers, body });
      await answer.body.dump();
      return answer.statusCode;
    };
    const owner = { email: "a@b.example", password: "battery staple", apiKey: `qk_87654321_${"b".repeat(43)}` };
    try {
      expect(await login("correct horse")).to.equal(200);
      await client.resetOwner(address, owner);
      await client.resetOwner(address, owner);
      expect([await login("battery staple"), await login("correct horse")]).to.deep.equal([200, 401]);
    } finally {
      await dispatcher.close();
    }
    expect(await refusal(client.resetOwner(address, { ...owner, password: "short" }))).to.deep.equal([
      "INVALID_ARGUMENT",
      "BAD_FIELD",
    ]);
  }).timeout(30_000);

  it("wants the token", async () => {
    expect((await refusal(client.status({ ...address, token: "another" })))[0]).to.equal("UNAUTHENTICATED");
  });
});
