import { expect } from "chai";
import { PeerMemberDouble, until } from "../../../test/peers/index.ts";
import { ConnectionError, type Frame, FrameType } from "../../peers/index.ts";
import type { IncomingSnapshot, OutgoingSnapshot } from "../context/index.ts";
import { LONE_TRANSPORT, MemberTransport, ReceivedSnapshot } from "./member-transport.ts";

describe("MemberTransport", () => {
  let one: PeerMemberDouble;
  let two: PeerMemberDouble;
  let transport: MemberTransport;

  beforeEach(async () => {
    one = await PeerMemberDouble.start(1);
    two = await PeerMemberDouble.start(2);
    one.knows(two.listed);
    two.knows(one.listed);
    transport = new MemberTransport(one.transport);
  });

  afterEach(async () => {
    await one.transport.stop();
    await two.transport.stop();
  });

  function write(snapshot: OutgoingSnapshot, type: number, text: string): Promise<Error | null> {
    return new Promise((resolve) => snapshot.write(type, Buffer.from(text), resolve));
  }

  function read(snapshot: IncomingSnapshot): Promise<Frame | null> {
    return new Promise((resolve, reject) => {
      snapshot.read((error, frame) => (error === null ? resolve(frame) : reject(error)));
    });
  }

  async function incoming(): Promise<ReceivedSnapshot> {
    const { receiver } = await until("the snapshot", () => two.snapshots[0]);
    return new ReceivedSnapshot(receiver);
  }

  it("hands over frames, to peers that are connected", async () => {
    expect(transport.isConnected(2, "log")).to.equal(false);
    expect(transport.send(2, "log", FrameType.Append, Buffer.from("lost"))).to.equal(false);
    await one.reaches(2);
    expect(transport.isConnected(2, "log")).to.equal(true);
    expect(transport.send(2, "log", FrameType.Append, Buffer.from("an entry"))).to.equal(true);
    transport.flush();
    await until("the frame", () => two.receivedTexts(1, "log").includes("an entry"));
  });

  it("brings a snapshot, frame by frame, and its end to both sides", async () => {
    const outgoing = transport.openSnapshot(2);
    const written = write(outgoing, FrameType.SnapshotManifest, "manifest");
    const received = await incoming();
    expect(Buffer.from((await read(received))?.body ?? []).toString()).to.equal("manifest");
    expect(await written).to.equal(null);
    const ended = new Promise((resolve) => outgoing.end(resolve));
    expect(await read(received)).to.equal(null);
    expect(await ended).to.equal(null);
    received.close();
  });

  it("reports a failure by the next step, on both sides", async () => {
    const outgoing = transport.openSnapshot(2);
    expect(await write(outgoing, FrameType.SnapshotManifest, "manifest")).to.equal(null);
    const received = await incoming();
    await read(received);
    received.close();
    await until("the failure", async () => (await write(outgoing, FrameType.SnapshotChunk, "rows")) !== null);
    const another = transport.openSnapshot(2);
    expect(await write(another, FrameType.SnapshotManifest, "manifest")).to.equal(null);
    const { receiver } = await until("the next snapshot", () => two.snapshots[1]);
    const cut = new ReceivedSnapshot(receiver);
    await read(cut);
    another.abort();
    const error = await read(cut).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ConnectionError);
    cut.close();
  });

  it("fails a snapshot to a peer that is not listed, and any of a member that is alone, in an event of its own", async () => {
    for (const alone of [transport, LONE_TRANSPORT]) {
      const outgoing = alone.openSnapshot(9);
      let isInside = true;
      const failed = new Promise<Error | null>((resolve) => {
        outgoing.write(FrameType.SnapshotManifest, new Uint8Array(0), (error) => {
          expect(isInside).to.equal(false);
          resolve(error);
        });
      });
      isInside = false;
      expect(await failed).to.be.instanceOf(Error);
    }
    expect(LONE_TRANSPORT.send(2, "log", FrameType.Append, new Uint8Array(0))).to.equal(false);
    expect(LONE_TRANSPORT.isConnected(2, "log")).to.equal(false);
  });

  it("calls no callback after an abort or a close", async () => {
    const told: string[] = [];
    const unlisted = transport.openSnapshot(9);
    unlisted.end(() => told.push("unlisted"));
    unlisted.abort();
    const outgoing = transport.openSnapshot(2);
    outgoing.write(FrameType.SnapshotManifest, new Uint8Array(0), () => told.push("written"));
    outgoing.abort();
    const other = transport.openSnapshot(2);
    expect(await write(other, FrameType.SnapshotManifest, "manifest")).to.equal(null);
    const received = await incoming();
    await read(received);
    received.read(() => told.push("read"));
    received.close();
    await until("the sender to notice", async () => (await write(other, FrameType.SnapshotChunk, "rows")) !== null);
    expect(told).to.deep.equal([]);
  });
});
