import { expect } from "chai";
import { AppliedReplica, FOUNDING } from "../../../test/index.ts";
import { PeerDirectory } from "./peer-directory.ts";

const FOUNDER = { memberId: 1, incarnation: "11".repeat(16), address: FOUNDING.address.peerEndpoint };
const INCARNATION = "ab".repeat(16);
const ADDRESS = { peerEndpoint: "q-1:7402", grpcEndpoint: "q-1:7400", httpEndpoint: "q-1:7401" };

describe("PeerDirectory", () => {
  let replica: AppliedReplica;
  let directory: PeerDirectory;

  beforeEach(() => {
    replica = new AppliedReplica();
    directory = new PeerDirectory(replica);
  });

  function claim(name: string): void {
    const operation = {
      kind: "claim-slot",
      name,
      incarnation: Buffer.from(INCARNATION, "hex"),
      address: ADDRESS,
    } as const;
    replica.proposeClusterOperation(operation, 0, () => undefined);
  }

  it("names the members of the record whose slots are claimed, and knows of the others that there are slots", () => {
    const id = replica.addSlot("q-1");
    directory.onRecordDurable();
    expect(directory.known.members).to.deep.equal([FOUNDER]);
    expect([...directory.known.incarnations]).to.deep.equal([
      [1, FOUNDER.incarnation],
      [id, ""],
    ]);
    claim("q-1");
    directory.onRecordDurable();
    expect(directory.known.members).to.deep.equal([
      FOUNDER,
      { memberId: id, incarnation: INCARNATION, address: ADDRESS.peerEndpoint },
    ]);
    expect(directory.cluster?.clusterId).to.equal(FOUNDING.clusterId);
  });

  it("is certain of nothing that a power cut could take back, and of nothing on another member's word", () => {
    expect(directory.certainIndex).to.equal(0);
    directory.onRecordDurable();
    const index = replica.status().appliedIndex;
    expect(directory.certainIndex).to.equal(index);
    replica.addSlot("q-1");
    directory.onMemberList({ members: [], index: 1_000 });
    expect(directory.certainIndex, "applied, but not durable for certain").to.equal(index);
    directory.onRecordDurable();
    expect(directory.certainIndex).to.equal(index + 1);
  });

  it("takes for a member that it cannot dial whose slot is not claimed as far as it knows, or is not known", () => {
    const id = replica.addSlot("q-1");
    directory.onRecordDurable();
    expect([id, id + 1].map((one) => directory.mayBeMember(one))).to.deep.equal([true, true]);
    expect(directory.mayBeMember(FOUNDER.memberId), "it is dialed").to.equal(false);
    claim("q-1");
    directory.onRecordDurable();
    expect(directory.mayBeMember(id)).to.equal(false);
    replica.remove(id);
    directory.onRecordDurable();
    expect(directory.mayBeMember(id), "it was removed").to.equal(false);
  });

  it("P18: is certain of nothing while a majority may forget that the configuration is committed", () => {
    directory.onRecordDurable();
    const id = replica.addSlot("q-1");
    replica.isLasting = false;
    directory.onRecordDurable();
    expect(directory.certainIndex).to.equal(0);
    replica.isLasting = true;
    expect(directory.certainIndex).to.equal(id);
  });

  it("P18: dials the members of its own record, whatever others sent, until its record does not have them any more", () => {
    const id = replica.addSlot("q-1");
    claim("q-1");
    directory.onRecordDurable();
    // The sender has applied the removal. This member has not, and needs the vote of the removed one to learn of it.
    directory.onMemberList({ members: [FOUNDER], index: 1_000 });
    expect(directory.known.members).to.deep.equal([FOUNDER]);
    expect(directory.dialed.map(({ memberId }) => memberId)).to.deep.equal([FOUNDER.memberId, id]);
    replica.remove(id);
    directory.onRecordDurable();
    expect(directory.dialed).to.deep.equal([FOUNDER]);
  });

  it("knows a slot that another member's word leaves out, because it was not claimed then", () => {
    const id = replica.addSlot("q-1");
    directory.onRecordDurable();
    directory.onMemberList({ members: [FOUNDER], index: id + 10 });
    expect(directory.incarnationOf(id)).to.equal("");
    expect(directory.incarnationOf(1)).to.equal(FOUNDER.incarnation);
    expect(directory.incarnationOf(id + 1)).to.equal(undefined);
  });

  it("reads the record once for each change", () => {
    const { known } = directory;
    expect(directory.known).to.equal(known);
    directory.onRecordDurable();
    expect(directory.known).to.not.equal(known);
  });

  it("believes another member as long as its word is newer than what is applied, and the record after that", () => {
    const told = { memberId: 40, incarnation: INCARNATION, address: "q-4:7402" };
    const index = replica.status().appliedIndex + 2;
    directory.onMemberList({ members: [told], index });
    expect(directory.known.members).to.deep.equal([told]);
    expect([...directory.known.incarnations.keys()]).to.deep.equal([40]);
    replica.addSlot("q-1");
    directory.onRecordDurable();
    expect(directory.known.members, "one entry before").to.deep.equal([told]);
    replica.addSlot("q-2");
    directory.onRecordDurable();
    expect(directory.known.members).to.deep.equal([FOUNDER]);
  });

  it("keeps the newest word", () => {
    const word = (memberId: number) => [{ memberId, incarnation: INCARNATION, address: "q-4:7402" }];
    directory.onMemberList({ members: word(40), index: 100 });
    directory.onMemberList({ members: word(30), index: 99 });
    expect(directory.known.members).to.deep.equal(word(40));
    directory.onMemberList({ members: word(50), index: 101 });
    expect(directory.known.members).to.deep.equal(word(50));
  });

  it("dials a member where it says that it is, until its record changes", () => {
    const id = replica.addSlot("q-1");
    claim("q-1");
    directory.onRecordDurable();
    const addresses = () => directory.dialed.map(({ address }) => address);
    directory.move(id, "moved:7402");
    directory.move(99, "nowhere:7402");
    expect(addresses()).to.deep.equal([FOUNDER.address, "moved:7402"]);
    expect(directory.known.members.map(({ address }) => address)).to.deep.equal([FOUNDER.address, "q-1:7402"]);
    const address = { ...ADDRESS, peerEndpoint: "recorded:7402" };
    const incarnation = Buffer.from(INCARNATION, "hex");
    replica.proposeClusterOperation({ kind: "update-member", id, incarnation, address }, 0, () => undefined);
    directory.onRecordDurable();
    expect(addresses()).to.deep.equal([FOUNDER.address, "recorded:7402"]);
  });
});
