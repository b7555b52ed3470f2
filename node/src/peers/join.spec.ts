import { expect } from "chai";
import {
  answerBytes,
  CLUSTER_ID,
  type DoubleOptions,
  incarnationOf,
  PeerMemberDouble,
  RawAcceptor,
  RawPeer,
  TOKEN,
  until,
} from "../../test/peers/index.ts";
import { ConnectionError } from "./connection-error.ts";
import { FrameType } from "./frame-type.ts";
import type { JoinAnswer, JoinRequest } from "./join-codec.ts";

const REQUEST: JoinRequest = {
  clusterName: "demo",
  clusterId: null,
  memberId: 0,
  name: "demo-1",
  incarnation: incarnationOf(7),
  endpoints: { peerEndpoint: "127.0.0.1:7402", grpcEndpoint: "127.0.0.1:7400", httpEndpoint: "127.0.0.1:7401" },
  versions: { min: 1, max: 1 },
};

describe("asking to join", () => {
  const members: PeerMemberDouble[] = [];
  const acceptors: RawAcceptor[] = [];
  const raws: RawPeer[] = [];

  async function start(memberId: number, options?: DoubleOptions): Promise<PeerMemberDouble> {
    const member = await PeerMemberDouble.start(memberId, options);
    members.push(member);
    return member;
  }

  async function failure(promise: Promise<unknown>): Promise<string> {
    try {
      await promise;
    } catch (error) {
      expect(error).to.be.instanceOf(ConnectionError);
      return (error as ConnectionError).message;
    }
    throw new Error("it did not fail");
  }

  afterEach(async () => {
    for (const { socket } of raws.splice(0)) {
      socket.destroy();
    }
    for (const acceptor of acceptors.splice(0)) {
      acceptor.close();
    }
    for (const member of members.splice(0)) {
      await member.transport.stop();
    }
  });

  const answers: readonly JoinAnswer[] = [
    {
      result: "ACCEPTED",
      clusterId: CLUSTER_ID,
      memberId: 12,
      directory: [{ memberId: 1, incarnation: incarnationOf(1), address: "127.0.0.1:7402" }],
      index: 15,
    },
    { result: "NO_SLOT" },
    { result: "SLOT_TAKEN", memberId: 512 },
    { result: "WRONG_CLUSTER" },
    { result: "VERSION" },
    { result: "REMOVED" },
    { result: "NO_CLUSTER" },
    { result: "TRY_LATER" },
  ];
  for (const answer of answers) {
    it(`brings the answer ${answer.result} from a member to a process that is not a member`, async () => {
      const seed = await start(1);
      const joining = await start(0);
      joining.clusterId = null;
      const asked: JoinRequest[] = [];
      seed.onJoin = async (request) => {
        asked.push(request);
        return answer;
      };
      expect(await joining.transport.askToJoin(seed.listed.address, REQUEST)).to.deep.equal(answer);
      expect(asked).to.deep.equal([REQUEST]);
    });
  }

  it("waits for an answer that takes its time", async () => {
    const seed = await start(1);
    const joining = await start(0);
    const { promise, resolve } = Promise.withResolvers<JoinAnswer>();
    seed.onJoin = () => promise;
    const asking = joining.transport.askToJoin(seed.listed.address, REQUEST);
    await until("the question", () => joining.clock.timerCount > 0 && seed.clock.timerCount === 0);
    seed.clock.advance(9_000);
    joining.clock.advance(9_000);
    resolve({ result: "NO_SLOT" });
    expect(await asking).to.deep.equal({ result: "NO_SLOT" });
  });

  it("is answered TRY_LATER when the answer cannot be found", async () => {
    const seed = await start(1);
    seed.onJoin = () => Promise.reject(new Error("no leader"));
    expect(await (await start(0)).transport.askToJoin(seed.listed.address, REQUEST)).to.deep.equal({
      result: "TRY_LATER",
    });
    expect(seed.logLines.join()).to.include("no leader");
  });

  it("with a wrong token gets no answer, and the question is not looked at", async () => {
    const seed = await start(1);
    const joining = await start(0);
    joining.joinTokens = ["the wrong secret"];
    let asked = 0;
    seed.onJoin = async () => {
      asked++;
      return { result: "NO_SLOT" };
    };
    const message = await failure(joining.transport.askToJoin(seed.listed.address, REQUEST));
    expect(message).to.include("no answer");
    expect(asked).to.equal(0);
    expect(`${message}${seed.logLines.join()}${joining.logLines.join()}`).not.to.include("secret");
  });

  it("with another protocol is answered VERSION by the transport itself", async () => {
    const seed = await start(1);
    const peer = await RawPeer.open(seed.port);
    raws.push(peer);
    const question = { magic: "quoin-join", protocol: { min: 4, max: 5 }, joinToken: TOKEN, ...REQUEST };
    peer.send(FrameType.Join, Buffer.from(JSON.stringify(question)));
    expect((await peer.untilClosed()).subarray(12).toString()).to.equal('{"result":"VERSION"}');
  });

  it("ends a connection that says more than its question", async () => {
    const seed = await start(1);
    const { promise, resolve } = Promise.withResolvers<JoinAnswer>();
    seed.onJoin = () => promise;
    const peer = await RawPeer.open(seed.port);
    raws.push(peer);
    const question = { magic: "quoin-join", protocol: { min: 2, max: 2 }, joinToken: TOKEN, ...REQUEST };
    const bytes = Buffer.from(JSON.stringify(question));
    peer.send(FrameType.Join, bytes);
    peer.send(FrameType.Join, bytes);
    expect((await peer.untilClosed()).length).to.equal(0);
    resolve({ result: "NO_SLOT" });
  });

  it("fails without a listener, without an answer in 10 s, on a wrong answer, and on a stop", async () => {
    const joining = await start(0);
    expect(await failure(joining.transport.askToJoin("127.0.0.1:1", REQUEST))).to.include("127.0.0.1:1");
    expect(await failure(joining.transport.askToJoin("nowhere", REQUEST))).to.include("is not a host:port address");
    const acceptor = await RawAcceptor.open();
    acceptors.push(acceptor);
    const silent = failure(joining.transport.askToJoin(acceptor.address, REQUEST));
    await until("the question", () => acceptor.sockets.length === 1);
    joining.clock.advance(10_000);
    expect(await silent).to.include("10000 ms");
    acceptor.onHello = (socket) => socket.write(answerBytes(0));
    expect(await failure(joining.transport.askToJoin(acceptor.address, REQUEST))).to.include("does not belong here");
    acceptor.onHello = () => {};
    const stopped = failure(joining.transport.askToJoin(acceptor.address, REQUEST));
    await joining.transport.stop();
    expect(await stopped).to.include("stops");
  });
});
