import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import { readProgress } from "../../state/index.ts";
import { MIRROR_FILE, readMirror } from "../files/index.ts";
import { readIdentity, writeIdentity } from "../identity/index.ts";
import { type DataDirectory, openDataDirectory } from "./data-directory.ts";
import type { MemberData } from "./member-data.ts";

const CLUSTER_ID = "00112233-4455-6677-8899-aabbccddeeff";
const NOTHING = { first: 1, prevTerm: 0, last: 0, lastTerm: 0 };

describe("joining with an empty data directory", () => {
  const opened: { close(): Promise<void> }[] = [];
  let directory: string;

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
  });
  afterEach(() => closeAll());

  async function closeAll(): Promise<void> {
    for (const one of opened.splice(0)) {
      await one.close();
    }
  }

  async function open(): Promise<DataDirectory> {
    const found = await openDataDirectory({
      directory,
      clusterName: "spec",
      name: "q-1",
      acceptMissingFence: false,
      onFatal: (error) => {
        throw error;
      },
    });
    if (found.phase !== "refused") {
      opened.push(found.phase === "member" ? found.data : found);
    }
    return found;
  }

  async function openEmpty() {
    const found = await open();
    if (found.phase !== "empty") {
      throw new Error(`the directory is ${found.phase}`);
    }
    return found;
  }

  async function openMember(): Promise<MemberData> {
    const found = await open();
    if (found.phase !== "member") {
      throw new Error(`the directory is ${found.phase}`);
    }
    return found.data;
  }

  async function joinCluster(memberId = 512): Promise<MemberData> {
    const empty = await openEmpty();
    const data = await empty.join(CLUSTER_ID, memberId);
    opened.splice(opened.indexOf(empty), 1, data);
    return data;
  }

  it("makes a member of the cluster that has not voted and has an empty log", async () => {
    const data = await joinCluster();
    expect(data).to.deep.include({ term: 0, vote: 0, commit: 0, writeSeq: 1, boot: 1, damaged: false });
    expect(data.bounds).to.deep.equal(NOTHING);
    expect(readProgress(data.state).appliedIndex).to.equal(0);
    expect(data.identity).to.include({ phase: "member", clusterId: CLUSTER_ID, memberId: 512, name: "q-1" });
    expect(readIdentity(directory)).to.deep.equal(data.identity);
    const { incarnation } = data.identity;
    expect(readMirror(join(directory, MIRROR_FILE))).to.deep.equal({
      counter: 1,
      clusterId: CLUSTER_ID,
      memberId: 512,
      incarnation,
      boot: 1,
      writeSeq: 1,
      term: 0,
      vote: 0,
      damaged: false,
      isSoleVoter: false,
    });
    expect(readdirSync(directory).sort()).to.deep.equal(["fence", "identity", "log", "state", "state-1"]);
    expect(statSync(join(directory, "state-1")).mode & 0o777).to.equal(0o700);
  });

  it("lasts: each later start is the next boot of the same member", async () => {
    const { identity } = await joinCluster();
    await closeAll();
    for (const boot of [2, 3]) {
      const data = await openMember();
      expect(data).to.deep.include({ identity, boot, term: 0, vote: 0, damaged: false });
      expect(data.bounds).to.deep.equal(NOTHING);
      await closeAll();
    }
  });

  it("is completed by the next start when it was cut short after the log, with or without the mirror and the state", async () => {
    for (const missing of [[], ["state"], ["state", "state-1"], ["state", "state-1", "fence"]]) {
      directory = join(temporaryDirectory(), "data");
      const empty = await openEmpty();
      await closeAll();
      await joinCluster();
      await closeAll();
      writeIdentity(directory, empty.identity);
      for (const name of missing) {
        rmSync(join(directory, name), { recursive: true });
      }
      const data = await openMember();
      expect(data, `without ${missing.join(", ")}`).to.include({ term: 0, vote: 0, damaged: false });
      expect(data.identity).to.include({ phase: "member", clusterId: CLUSTER_ID, memberId: 512 });
      expect(readMirror(join(directory, MIRROR_FILE))).to.include({ isSoleVoter: false, damaged: false });
      await closeAll();
      expect((await openMember()).bounds).to.deep.equal(NOTHING);
      await closeAll();
    }
  });

  it("can be repeated, also under another id, when it was cut short before the log was there", async () => {
    const empty = await openEmpty();
    await closeAll();
    await joinCluster();
    await closeAll();
    // The mirror of the lost attempt must not have a greater counter than that of the next one.
    writeIdentity(directory, empty.identity);
    rmSync(join(directory, "log"), { recursive: true });
    expect((await joinCluster(600)).identity.memberId).to.equal(600);
    await closeAll();
    expect((await openMember()).identity.memberId).to.equal(600);
    expect(readMirror(join(directory, MIRROR_FILE))).to.include({ memberId: 600 });
  });

  it("refuses ids that cannot be, and is empty as before", async () => {
    const empty = await openEmpty();
    for (const [clusterId, memberId] of [
      ["", 512],
      [CLUSTER_ID.toUpperCase(), 512],
      [`${CLUSTER_ID}00`, 512],
      [CLUSTER_ID, 0],
      [CLUSTER_ID, 1.5],
      [CLUSTER_ID, 2 ** 53],
    ] as const) {
      const error = await empty.join(clusterId, memberId).catch((caught: unknown) => caught);
      expect(error, `${memberId} of ${clusterId}`).to.be.instanceOf(RangeError);
    }
    expect(readdirSync(directory).sort()).to.deep.equal(["identity", "log"]);
    await closeAll();
    await joinCluster();
  });
});
