import { createHash } from "node:crypto";
import { expect } from "chai";
import { type DoubleOptions, incarnationOf, PeerMemberDouble, until } from "../../test/peers/index.ts";
import { ConnectionError } from "./connection-error.ts";
import { FrameType } from "./frame-type.ts";
import type { SnapshotReceiver } from "./snapshot-receiver.ts";

const { SnapshotChunk, SnapshotManifest, SnapshotTrailer } = FrameType;
const MIB = 1024 * 1024;

async function failure(promise: Promise<unknown>): Promise<ConnectionError> {
  try {
    await promise;
  } catch (error) {
    expect(error).to.be.instanceOf(ConnectionError);
    return error as ConnectionError;
  }
  throw new Error("it did not fail");
}

describe("snapshot connection", () => {
  const members: PeerMemberDouble[] = [];

  async function start(memberId: number, options?: DoubleOptions): Promise<PeerMemberDouble> {
    const member = await PeerMemberDouble.start(memberId, options);
    members.push(member);
    return member;
  }

  /** Members of which each knows the others, without waiting for their links. */
  async function acquainted(size: number): Promise<PeerMemberDouble[]> {
    const started: PeerMemberDouble[] = [];
    for (let memberId = 1; memberId <= size; memberId++) {
      started.push(await start(memberId));
    }
    for (const member of started) {
      for (const { memberId, incarnation } of started) {
        member.directory.set(memberId, incarnation);
      }
    }
    for (const member of started) {
      member.knows(...started.filter((other) => other !== member).map(({ listed }) => listed));
    }
    return started;
  }

  async function receiverOf(member: PeerMemberDouble, position = 0): Promise<SnapshotReceiver> {
    return (await until("a snapshot to come in", () => member.snapshots[position])).receiver;
  }

  afterEach(async () => {
    for (const member of members.splice(0)) {
      await member.transport.stop();
    }
  });

  it("carries 50 MiB to a slow reader, at its pace and with little in memory", async () => {
    const [one, two] = (await acquainted(2)) as [PeerMemberDouble, PeerMemberDouble];
    const sender = one.transport.openSnapshot(2);
    const sent = createHash("sha256");
    let written = 0;
    const sending = (async () => {
      await sender.write(SnapshotManifest, Buffer.from("manifest"));
      for (let chunk = 0; chunk < 50; chunk++) {
        const bytes = Buffer.alloc(MIB, `chunk ${chunk} `);
        sent.update(bytes);
        await sender.write(SnapshotChunk, bytes);
        written++;
      }
      await sender.write(SnapshotTrailer, Buffer.from("trailer"));
      await sender.end();
    })();
    const receiver = await receiverOf(two);
    const received = createHash("sha256");
    let read = 0;
    let aheadMax = 0;
    expect(Buffer.from((await receiver.read())?.body ?? []).toString()).to.equal("manifest");
    for (let frame = await receiver.read(); frame?.type === SnapshotChunk; frame = await receiver.read()) {
      received.update(frame.body);
      read++;
      // The reader pauses until the sender can go no further without it.
      let before = -1;
      await until("the sender to wait", () => {
        const isResting = written === before;
        before = written;
        return isResting;
      });
      aheadMax = Math.max(aheadMax, written - read);
    }
    expect(await receiver.read()).to.equal(null);
    await sending;
    expect(read).to.equal(50);
    expect(received.digest("hex")).to.equal(sent.digest("hex"));
    // Data that is written and not read is in the buffers of the two sockets, which the system sizes: a few MiB.
    expect(aheadMax).to.be.lessThan(16);
    expect(two.frames).to.deep.equal([]);
  }).timeout(60_000);

  it("ends for the sender only when the reader has read everything", async () => {
    const [one, two] = (await acquainted(2)) as [PeerMemberDouble, PeerMemberDouble];
    const sender = one.transport.openSnapshot(2);
    await sender.write(SnapshotManifest, Buffer.from("all"));
    let isEnded = false;
    const ending = sender.end().then(() => {
      isEnded = true;
    });
    const receiver = await receiverOf(two);
    expect(await receiver.read()).to.include({ type: SnapshotManifest });
    expect(isEnded).to.equal(false);
    expect(await receiver.read()).to.equal(null);
    await ending;
    await failure(sender.write(SnapshotChunk, Buffer.alloc(1)));
  });

  it("lets the reader distinguish a snapshot that broke off from one that ended", async () => {
    const [one, two] = (await acquainted(2)) as [PeerMemberDouble, PeerMemberDouble];
    const sender = one.transport.openSnapshot(2);
    await sender.write(SnapshotManifest, Buffer.from("part"));
    const receiver = await receiverOf(two);
    expect(await receiver.read()).to.include({ type: SnapshotManifest });
    const reading = failure(receiver.read());
    sender.abort();
    expect((await reading).message).to.include("broke off");
    await failure(receiver.read());
    expect((await failure(sender.end())).message).to.include("given up");
  });

  it("fails the waiting write of the sender when the reader gives up", async () => {
    const [one, two] = (await acquainted(2)) as [PeerMemberDouble, PeerMemberDouble];
    const sender = one.transport.openSnapshot(2);
    await sender.write(SnapshotManifest, Buffer.from("part"));
    (await receiverOf(two)).close();
    await failure(
      (async () => {
        for (;;) {
          await sender.write(SnapshotChunk, Buffer.alloc(MIB));
        }
      })(),
    );
  });

  it("comes in twice at most; a newer one of the same source takes the place of its older one", async () => {
    const [one, two, three, four] = (await acquainted(4)) as PeerMemberDouble[] as [
      PeerMemberDouble,
      PeerMemberDouble,
      PeerMemberDouble,
      PeerMemberDouble,
    ];
    await two.transport.openSnapshot(1).write(SnapshotManifest, Buffer.from("from 2"));
    await three.transport.openSnapshot(1).write(SnapshotManifest, Buffer.from("from 3"));
    const refused = await failure(four.transport.openSnapshot(1).write(SnapshotManifest, Buffer.from("from 4")));
    expect(refused.refusal).to.equal("BUSY");
    expect(four.refusals).to.deep.equal([]);
    const first = await receiverOf(one, 0);
    const newer = two.transport.openSnapshot(1);
    await newer.write(SnapshotManifest, Buffer.from("again from 2"));
    await failure(first.read());
    expect(Buffer.from((await (await receiverOf(one, 2)).read())?.body ?? []).toString()).to.equal("again from 2");
    (await receiverOf(one, 1)).close();
    const fourth = four.transport.openSnapshot(1);
    await until("room for another", async () => {
      return fourth.write(SnapshotManifest, Buffer.from("from 4")).then(() => true);
    });
  });

  it("is not given up while its reader rests, and is when its sender is silent while it reads", async () => {
    const [one, two] = (await acquainted(2)) as [PeerMemberDouble, PeerMemberDouble];
    const sender = one.transport.openSnapshot(2);
    await sender.write(SnapshotManifest, Buffer.from("first"));
    const receiver = await receiverOf(two);
    two.clock.advance(60_000);
    expect(await receiver.read()).to.include({ type: SnapshotManifest });
    two.clock.advance(60_000);
    await sender.write(SnapshotChunk, Buffer.from("second"));
    expect(await receiver.read()).to.include({ type: SnapshotChunk });
    const reading = failure(receiver.read());
    // The timer is set for the next ping first, and then for the end of the wait.
    two.clock.advance(4_000);
    expect((await reading).message).to.include("3000 ms");
  });

  it("cannot be opened to a member that is not listed, and fails without a listener", async () => {
    const one = await start(1);
    expect(() => one.transport.openSnapshot(2)).to.throw(ConnectionError);
    one.knows({ memberId: 2, incarnation: incarnationOf(2), address: "127.0.0.1:1" });
    await failure(one.transport.openSnapshot(2).write(SnapshotManifest, Buffer.alloc(1)));
    const stopped = one.transport.openSnapshot(2);
    const writing = failure(stopped.write(SnapshotManifest, Buffer.alloc(1)));
    await one.transport.stop();
    await writing;
  });
});
