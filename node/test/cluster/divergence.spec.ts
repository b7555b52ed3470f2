import { fileURLToPath } from "node:url";
import type { Client } from "@quoin/client";
import { expect } from "chai";
import { PROGRAMS_VARIABLE } from "../../../testing/index.ts";
import { DEFAULT_STATE_LIMITS, type Row } from "../../src/state/index.ts";
import { openDataDirectory } from "../../src/storage/index.ts";
import { type ClusterMember, ClusterUnderTest, MEMBER_PROGRAM, TestProcess } from "../harness/index.ts";

/** Loaded into a member whose program must be faulty. */
const FAULTY_APPLY = fileURLToPath(new URL("../harness/faulty-apply.ts", import.meta.url));
const AT_A_TIME = 20;
/**
 * Each round has half as many writes as there are entries between two comparisons. One or two rounds pass, and then a
 * report.
 */
const ROUNDS_MAX = 20;
/** Timeout of one call, far longer than it takes: the test needs its outcome. */
const TIMEOUT_MS = 30_000;
/** Rows of keys begin with the letter d. */
const KEY_TABLE = Uint8Array.of(0x64);
const KEY_TABLE_END = Uint8Array.of(0x65);
const EXIT_DATA_REFUSED = 73;

/** Puts this many values, one after the other, to each of some keys. */
async function write(client: Client, count: number): Promise<void> {
  let left = count;
  const writeOn = async (_: unknown, at: number): Promise<void> => {
    while (left-- > 0) {
      await client.keyValue.put("default", `key-${at}`, String(left), { timeoutMs: TIMEOUT_MS });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, writeOn));
}

/** Flips a bit of every key's value in the store of a stopped member. */
async function flipStored({ dataDirectory, name }: ClusterMember): Promise<void> {
  const directory = await openDataDirectory({
    directory: dataDirectory,
    clusterName: "under-test",
    name,
    acceptMissingFence: false,
    onFatal: (error) => {
      throw error;
    },
  });
  if (directory.phase !== "member") {
    throw new Error(`the directory is ${directory.phase}`);
  }
  const { state } = directory.data;
  const rows: Row[] = [];
  state.scan(KEY_TABLE, KEY_TABLE_END, ({ key, value }) => rows.push({ key: key.slice(), value: value.slice() }) > 0);
  expect(rows).to.have.length(AT_A_TIME);
  state.write(rows.map(({ key, value }) => ({ key, value: value.with(-1, (value.at(-1) as number) ^ 1) })));
  await directory.data.close();
}

/** Writes at the others until the member has stopped serving, and returns the reason that it gives. */
async function untilRefused(cluster: ClusterUnderTest, wrong: ClusterMember): Promise<string> {
  const others = cluster.members.filter((member) => member !== wrong);
  const client = cluster.client(others.map(({ grpc }) => grpc));
  for (let round = 0; round < ROUNDS_MAX && (await wrong.status())?.state !== "MEMBER_REFUSED"; round++) {
    await write(client, DEFAULT_STATE_LIMITS.checkpointEntries / 2);
  }
  const { alarms } = await wrong.untilState("MEMBER_REFUSED");
  return alarms.join();
}

/** The member answers no caller, also after a restart; the other members answer all of them. */
async function expectOutOfService(cluster: ClusterUnderTest, wrong: ClusterMember): Promise<void> {
  const others = cluster.members.filter((member) => member !== wrong);
  const client = cluster.client(others.map(({ grpc }) => grpc));
  const alone = cluster.client([wrong.grpc]);
  for (const isRestarted of [false, true]) {
    if (isRestarted) {
      await wrong.restart();
      await wrong.untilState("MEMBER_REFUSED");
    }
    expect(await wrong.isReady()).to.equal(false);
    const asked = alone.keyValue.get("default", "key-0", { timeoutMs: TIMEOUT_MS });
    const refused = await asked.catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error).and.to.include({ code: "UNAVAILABLE" });
    await write(client, 2 * AT_A_TIME);
    await client.keyValue.get("default", "key-0", { timeoutMs: TIMEOUT_MS });
  }
  for (const member of others) {
    expect((await member.status())?.state).to.equal("RUNNING");
  }
}

describe("a member of three whose state is not that of the others (P44)", () => {
  /** Its program is faulty, but only the second test reaches the fault. */
  const FAULTY = "q-1";
  let cluster: ClusterUnderTest;

  before(async () => {
    const environment = { NODE_OPTIONS: `--import=${FAULTY_APPLY}`, [PROGRAMS_VARIABLE]: "" };
    cluster = await ClusterUnderTest.start(3, {
      placementOf: (name) => Promise.resolve(name === FAULTY ? { environment } : {}),
    });
  });
  ClusterUnderTest.describeFailures(() => cluster);
  after(() => cluster?.dispose());

  it("stops serving for good and says so, after a byte of its store has changed; the others go on", async () => {
    await write(cluster.client(), 10 * AT_A_TIME);
    await cluster.untilStable();
    const leader = await cluster.leader();
    const wrong = cluster.members.find((member) => member !== leader && member.name !== FAULTY) as ClusterMember;
    await wrong.kill();
    await flipStored(wrong);
    wrong.start();
    await wrong.untilReady();
    const reason = await untilRefused(cluster, wrong);
    expect(reason).to.match(/at log index [0-9]+000 the state of this member had the digest [0-9a-f]{8}/);
    expect(reason).to.contain("add it again with an empty data directory");
    expect(wrong.output).to.contain("this member stops serving");
    await expectOutOfService(cluster, wrong);

    // Without an admin port for the report, the process ends.
    await wrong.kill();
    const any = "127.0.0.1:0";
    const args = ["--name", wrong.name, "--cluster-name", "under-test", "--data-dir", wrong.dataDirectory];
    const alone = new TestProcess(MEMBER_PROGRAM, [...args, "--grpc", any, "--http", any, "--no-disk-reserve"]);
    expect((await alone.ended).code).to.equal(EXIT_DATA_REFUSED);

    // As after a lost disk, its name comes back with a new directory.
    wrong.wipe();
    await cluster.remove(wrong.name);
    await cluster.add(wrong.name);
    await cluster.promote(wrong.name);
    await wrong.untilReady();
  });

  it("stops serving when its program stores wrong values, also when it leads", async () => {
    const wrong = cluster.member(FAULTY);
    await cluster.transfer(wrong.name);
    await cluster.client().keyValue.put("default", "faulty", "value", { timeoutMs: TIMEOUT_MS });
    const reason = await untilRefused(cluster, wrong);
    expect(reason).to.match(/^most voters, members [0-9]+, [0-9]+, have another state than this one/);
    await expectOutOfService(cluster, wrong);
  });
});
