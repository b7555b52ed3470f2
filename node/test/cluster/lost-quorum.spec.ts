/**
 * Two disks of three are lost. The cluster goes on from the third, by `quoin-node recover`, as an operator would do it.
 *
 * All members are killed under load. The recovery begins from the one that the comparison names. So every acknowledged
 * write must be there, whichever members had it.
 */

import { cpSync, createReadStream, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newObjectId, openStore, putSnapshot, readSnapshot } from "@quoin/backup";
import { CompactedError } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import {
  type ClusterMember,
  ClusterUnderTest,
  MEMBER_PROGRAM,
  segmentsOf,
  TestProcess,
  until,
} from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";

interface ArchiveEnd {
  readonly lastIndex: number;
  readonly lastTerm: number;
  readonly revision: number;
  readonly wallMs: number;
}

const JUMP = 1_000_000;
const WRITES_UNDER_LOAD = 400;
/** More than the entries after which members compare their states. */
const WRITES_AFTER = 1_100;
const NAMESPACE = "default";
const NEW_CLUSTER_ID = "0f0e0d0c-0b0a-4908-8706-050403020100";
const NEW_PASSWORD = "another long password";

describe("a cluster that has lost its quorum", function () {
  this.timeout(400_000);
  const running = TestProcess.ofEachTest();
  let cluster: ClusterUnderTest;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
  });
  ClusterUnderTest.describeFailures(() => cluster);
  after(() => cluster.dispose());

  async function run(args: readonly string[], input = "") {
    const child = new TestProcess(MEMBER_PROGRAM, args, { input });
    running.push(child);
    const { code } = await child.ended;
    return { code, stdout: child.stdout, stderr: child.stderr };
  }

  /** Its output after a refusal with this exit code. */
  async function refusal(code: number, args: readonly string[], input = ""): Promise<string> {
    const ended = await run(["recover", ...args], input);
    expect(ended.code, `${ended.stdout}${ended.stderr}`).to.equal(code);
    return ended.stderr;
  }

  async function login(member: ClusterMember, password: string): Promise<Response> {
    return fetch(`http://${member.host}:${member.ports.http}/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: cluster.owner.email, password }),
    });
  }

  async function listsKeys(member: ClusterMember, token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`http://${member.host}:${member.ports.http}/keys`, { headers })).status;
  }

  /** Puts a backup of the cluster, which ends there, into a store. */
  async function putSnapshotOf(directory: string, clusterId: string, end: ArchiveEnd): Promise<void> {
    const store = await openStore({ kind: "directory", directory }, { create: false });
    const header = {
      clusterId,
      clusterName: "under-test",
      quoinVersion: "0.1.0",
      clusterVersion: 1,
      id: newObjectId(),
      index: end.lastIndex,
      term: end.lastTerm,
      revision: end.revision,
      wallMs: end.wallMs,
      tickMs: 1,
      stateDigest: 0,
    };
    await putSnapshot(store, header, [], undefined);
    await store.close();
  }

  /** Members by the addresses of their admin ports, as the comparison takes them. */
  function addressesOf(members: readonly ClusterMember[]): string[] {
    return members.map(({ host, ports }) => `${host}:${ports.admin}`);
  }

  it("is not recovered while a majority serves it, nor from a member that runs", async () => {
    const tokenFile = join(temporaryDirectory(), "token");
    writeFileSync(tokenFile, `${cluster.secrets.adminToken}\n`, { mode: 0o600 });
    const compare = ["--compare", ...addressesOf(cluster.members), "--admin-token-file", tokenFile];
    expect(await refusal(73, compare))
      .to.contain("the quorum is not lost")
      .and.to.contain("leads");
    expect(await refusal(76, compare.slice(0, 2))).to.contain("--admin-token-file");
    const follower = await cluster.follower();
    expect(await refusal(71, ["--data-dir", follower.dataDirectory])).to.contain("stop the member first");
    await follower.stop();
    const others = cluster.members.filter((member) => member !== follower);
    const said = await refusal(73, ["--data-dir", follower.dataDirectory]);
    expect(said).to.contain("the quorum is not lost").and.to.contain("Start this member");
    expect(others.some(({ name }) => said.includes(name))).to.equal(true);

    // With one more member gone, the last one is compared while it runs.
    const [lost, left] = others as [ClusterMember, ClusterMember];
    await lost.kill();
    const places = [follower.dataDirectory, ...addressesOf([lost, left])];
    await until("the last member to have no leader", async () => (await left.status())?.leaderId === "");
    const compared = await run(["recover", "--compare", ...places, "--admin-token-file", tokenFile]);
    expect(compared.code, compared.stderr).to.equal(0);
    expect(compared.stdout)
      .to.contain(`not usable: ${addressesOf([lost])[0]}`)
      .and.to.contain("running");
    expect(compared.stdout).to.match(/recover from /);
    lost.start();
    follower.start();
    await cluster.untilReady();
  });

  it("loses no acknowledged write, and accepts no token, login or watch of before", async () => {
    const client = cluster.client();
    await client.locks.create(NAMESPACE, "guarded");
    const held = await client.locks.acquire(NAMESPACE, "guarded", { ttlSeconds: 86_400 });
    const { logId } = await client.logs.create("journal");
    await client.logs.append(logId, "first", { key: "one" });
    const oldToken = await cluster.tokens.token();
    const load = cluster.load({ clients: 6, keys: 40, seed: 7, timeoutMs: 3_000 });
    load.start();
    await until("writes to be acknowledged", () => {
      return load.history.operations.filter(({ outcome }) => outcome?.kind === "ok").length >= WRITES_UNDER_LOAD;
    });
    await Promise.all(cluster.members.map((member) => member.kill()));
    await load.stop();

    // Which member has all writes?
    const dataDirectories = cluster.members.map(({ dataDirectory }) => dataDirectory);
    const compared = await run(["recover", "--compare", ...dataDirectories]);
    expect(compared.code, compared.stderr).to.equal(0);
    const chosen = dataDirectories.find(
      (directory) => /recover from (any of )?(\S+?)[,:]/.exec(compared.stdout)?.[2] === directory,
    );
    expect(chosen, compared.stdout).to.be.a("string");
    const survivor = cluster.members.find(({ dataDirectory }) => dataDirectory === chosen) as ClusterMember;
    const lost = cluster.members.filter((member) => member !== survivor);
    const [lostFirst] = lost as [ClusterMember];
    const copy = join(temporaryDirectory(), "copy");
    cpSync(lostFirst.dataDirectory, copy, { recursive: true });
    for (const member of lost) {
      member.wipe();
    }

    // A person must confirm it.
    const at = ["--data-dir", survivor.dataDirectory];
    const unconfirmed = await refusal(76, at);
    expect(unconfirmed).to.contain("was not typed").and.to.contain("Nothing was changed");
    const lastIndex = /--yes-lose-writes-after (\d+)/.exec(unconfirmed)?.[1] as string;
    expect(await refusal(76, at, "11111111-2222-4333-8444-555555555555\n")).to.contain("was not typed");
    const wrong = ["--yes-lose-writes-after", String(Number(lastIndex) - 1)];
    expect(await refusal(76, [...at, ...wrong])).to.contain(`which is ${lastIndex}`);
    expect(await refusal(76, [...at, "--revision-jump", "5"])).to.contain("--revision-jump 5 must be");
    const report = join(temporaryDirectory(), "report");
    const reported = (): unknown => JSON.parse(readFileSync(report, "utf8"));
    const missing = temporaryDirectory();
    await run(["recover", "--compare", survivor.dataDirectory, missing, "--report", report]);
    expect(reported()).to.containSubset({
      directories: [
        { directory: survivor.dataDirectory, member: { name: survivor.name, lastIndex: Number(lastIndex) } },
        { directory: missing, mayPass: false },
      ],
    });

    // The archive may have more than any remaining member.
    const archive = temporaryDirectory();
    const end = { lastIndex: Number(lastIndex) + 5, lastTerm: 99, revision: 7, wallMs: 1_700_000_000_000 };
    const { clusterId } = JSON.parse(readFileSync(join(survivor.dataDirectory, "identity"), "utf8"));
    await putSnapshotOf(archive, clusterId, end);
    const compareAll = ["recover", "--compare", survivor.dataDirectory, missing, "--backup-store", archive];
    const comparedAll = await run([...compareAll, "--report", report]);
    expect(comparedAll.stdout).to.contain(`the archive reaches further, to index ${end.lastIndex} of term 99`);
    expect(reported()).to.containSubset({ archive: { end } });
    const told = await run(["recover", ...at, "--backup-store", archive]);
    expect([told.code, told.stdout.includes("quoin-node restore")]).to.deep.equal([76, true]);
    const unread = await refusal(73, [
      ...at,
      "--backup-store",
      join(archive, "none"),
      "--yes-lose-writes-after",
      lastIndex,
    ]);
    expect(unread).to.contain("cannot be compared").and.to.contain("omit --backup-store");

    await refusal(76, [...at, ...wrong, "--report", report]);
    expect((reported() as { problem: string }).problem).to.contain(`which is ${lastIndex}`);
    const confirmed = [...at, "--yes-lose-writes-after", lastIndex, "--new-cluster-id", NEW_CLUSTER_ID];
    const recovered = await run(["recover", ...confirmed, "--report", report]);
    expect(recovered.code, recovered.stderr).to.equal(0);
    const successor = { clusterId: NEW_CLUSTER_ID, memberId: Number(lastIndex) + 1, name: survivor.name };
    expect(reported()).to.deep.equal({ successor });
    // If the program was interrupted before the answer, it asks again.
    writeFileSync(report, "");
    const repeated = await run(["recover", ...confirmed, "--report", report]);
    expect(repeated.code, repeated.stderr).to.equal(0);
    expect(repeated.stdout).to.contain("the recovery is complete");
    expect(reported()).to.deep.equal({ successor });
    expect(recovered.stdout).to.contain(`last entry    index ${lastIndex}`).and.to.contain("last written  20");
    expect(recovered.stdout).to.contain("former-cluster-");

    survivor.start();
    await survivor.untilReady();
    load.connectTo([survivor.grpc]);
    await load.readAll();
    requireCorrect(load.history);

    // Credentials and watches of before are invalid, and data is still there.
    expect(await listsKeys(survivor, oldToken)).to.equal(401);
    const { access_token: newToken } = (await (await login(survivor, cluster.owner.password)).json()) as {
      readonly access_token: string;
    };
    expect(await listsKeys(survivor, newToken)).to.equal(200);
    const onSurvivor = cluster.client([survivor.grpc]);
    const again = await onSurvivor.locks.acquire(NAMESPACE, "guarded", { waitMs: 0 });
    expect(again.acquired).to.equal(true);
    expect(again.holder?.fencingToken).to.be.above((held.holder?.fencingToken ?? 0) + JUMP);
    expect(await onSurvivor.logs.append(logId, "first", { key: "one" })).to.deep.equal({ sequence: 1, replayed: true });
    expect((await onSurvivor.logs.append(logId, "second")).sequence).to.equal(2);
    const startRevision = (held.revision ?? 0) + 1;
    let compacted: unknown;
    await onSurvivor.watch.keys(NAMESPACE, { startRevision }).catch((error: unknown) => {
      compacted = error;
    });
    expect(compacted).to.be.instanceOf(CompactedError);

    // The owner can be reset on the new data too.
    await survivor.stop();
    const names = ["--name", survivor.name, "--cluster-name", "under-test", ...at];
    const reset = await run(["reset-owner", ...names, "--email", cluster.owner.email], NEW_PASSWORD);
    expect(reset.code, reset.stderr).to.equal(0);
    survivor.start();
    await survivor.untilReady();
    expect((await login(survivor, NEW_PASSWORD)).status).to.equal(200);

    // A member of the former cluster learns the reason of its refusal.
    cpSync(copy, lostFirst.dataDirectory, { recursive: true });
    lostFirst.start();
    await until("the former member to say why it is refused", async () => {
      const alarms = (await lostFirst.status())?.alarms.join("\n") ?? "";
      return /recovered or restored as cluster [0-9a-f-]{36} on 20.*empty its data directory/.test(alarms);
    });
    expect(await lostFirst.isReady()).to.equal(false);
    await lostFirst.kill();
    lostFirst.wipe();

    // The others come back as new members with the same state, which the members compare.
    const lostNames = lost.map(({ name }) => name);
    await cluster.add(...lostNames);
    await cluster.promote(...lostNames);
    await cluster.untilReady();
    const writer = cluster.client();
    for (let done = 0; done < WRITES_AFTER; done += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, each) => writer.keyValue.put(NAMESPACE, `after-${done + each}`, "x")),
      );
    }
    await cluster.untilStable();
    for (const member of cluster.members) {
      const status = await member.status();
      expect(status?.state).to.equal("RUNNING");
      expect(status?.alarms.filter((alarm) => alarm.includes("state"))).to.deep.equal([]);
    }
    await survivor.kill();
    await writer.keyValue.put(NAMESPACE, "without-the-survivor", "x");
    survivor.start();
    await cluster.untilReady();
  });

  it("is not recovered from damaged data, and the message names the data", async () => {
    const follower = await cluster.follower();
    await follower.stop();
    const copy = join(temporaryDirectory(), "damaged");
    cpSync(follower.dataDirectory, copy, { recursive: true });
    for (const path of segmentsOf(copy)) {
      truncateSync(path, 0);
    }
    const said = await refusal(73, ["--data-dir", copy, "--ignore-ready-members", "--yes-lose-writes-after", "1"]);
    expect(said).to.contain(copy).and.to.contain("lost acknowledged data");
    const compared = await run(["recover", "--compare", copy, follower.dataDirectory]);
    expect(compared.stdout).to.contain(`not usable: ${copy}`).and.to.contain(`recover from ${follower.dataDirectory}`);

    // The state of the whole copy can be exported without any other member.
    const file = join(temporaryDirectory(), "state.snapshot");
    const exported = await run(["export", "--data-dir", follower.dataDirectory, file]);
    expect(exported.code, exported.stderr).to.equal(0);
    expect(exported.stderr).to.contain("not encrypted").and.to.contain("are committed");
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const { header, batches } = await readSnapshot(createReadStream(file));
    const keys: string[] = [];
    for await (const rows of batches) {
      keys.push(...rows.map(({ key }) => Buffer.from(key).toString("latin1")));
    }
    expect(exported.stderr).to.contain(`${header.clusterId} at index ${header.index}`);
    expect(keys).to.include(`d${NAMESPACE}\0after-0`);
    // Rows that belong to the store itself are not part of the state.
    expect(keys.every((key) => key < "y")).to.equal(true);
    const missing = await run(["export", "--data-dir", temporaryDirectory(), file]);
    expect([missing.code, missing.stderr.includes("holds no member's data")]).to.deep.equal([73, true]);

    // A whole copy can be recovered, by typing the id of the cluster.
    const whole = join(temporaryDirectory(), "whole");
    cpSync(follower.dataDirectory, whole, { recursive: true });
    const { clusterId } = JSON.parse(readFileSync(join(whole, "identity"), "utf8")) as { readonly clusterId: string };
    const typed = await run(["recover", "--data-dir", whole, "--ignore-ready-members"], `${clusterId}\n`);
    expect(typed.code, typed.stderr).to.equal(0);
    expect(readdirSync(whole)).to.include(`former-cluster-${clusterId}`);
    expect(await refusal(73, ["--data-dir", whole]))
      .to.contain("only voter")
      .and.to.contain("Start the member");
    follower.start();
    await cluster.untilReady();
  });

  it("names what is wrong with its arguments", async () => {
    const empty = temporaryDirectory();
    expect(await refusal(76, [])).to.contain("name one data directory with --data-dir");
    expect(await refusal(76, ["--data-dir", empty, "--compare", empty])).to.contain("or several to compare");
    expect(await refusal(76, ["--data-dir", empty, "--new-cluster-id", "X"])).to.contain("a UUID in lower case");
    expect(await refusal(73, ["--data-dir", empty])).to.contain("holds no member's data");
    expect(readdirSync(empty)).to.deep.equal([]);
    writeFileSync(join(empty, "file"), "");
    expect(await refusal(73, ["--data-dir", empty])).to.contain("holds no member's data");
  });
});
