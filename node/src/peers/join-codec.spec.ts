import { expect } from "chai";
import fc from "fast-check";
import { CLUSTER_ID, incarnationOf } from "../../test/peers/index.ts";
import { FrameError } from "./frame.ts";
import {
  decodeJoin,
  decodeJoinAnswer,
  encodeJoin,
  encodeJoinAnswer,
  type JoinAnswer,
  type JoinRequest,
} from "./join-codec.ts";

const REQUEST: JoinRequest = {
  clusterName: "demo",
  clusterId: null,
  memberId: 0,
  name: "demo-1",
  incarnation: incarnationOf(7),
  endpoints: {
    peerEndpoint: "demo-1.demo-peers:7402",
    grpcEndpoint: "demo-1.demo-peers:7400",
    httpEndpoint: "[::1]:7401",
  },
  versions: { min: 1, max: 2 },
};

const ANSWERS: readonly JoinAnswer[] = [
  {
    result: "ACCEPTED",
    clusterId: CLUSTER_ID,
    memberId: 12,
    directory: [{ memberId: 1, incarnation: incarnationOf(1), address: "[::1]:7402" }],
    index: 15,
  },
  { result: "NO_SLOT" },
  { result: "SLOT_TAKEN", memberId: 512 },
  { result: "WRONG_CLUSTER" },
  { result: "WRONG_CLUSTER", successor: { clusterId: CLUSTER_ID, sinceMs: 1_750_000_000_000 } },
  { result: "VERSION" },
  { result: "REMOVED" },
  { result: "NO_CLUSTER" },
  { result: "TRY_LATER" },
];

describe("join codec", () => {
  it("returns questions and answers as they were", () => {
    for (const request of [REQUEST, { ...REQUEST, clusterId: CLUSTER_ID, memberId: 12 }]) {
      const received = decodeJoin(encodeJoin(request, "token"));
      expect(received).to.deep.equal({ request, protocol: { min: 2, max: 3 }, joinToken: "token" });
    }
    for (const answer of ANSWERS) {
      expect(decodeJoinAnswer(encodeJoinAnswer(answer))).to.deep.equal(answer);
    }
  });

  it("returns names that look like something else as they were", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (name) => {
        const request = { ...REQUEST, name };
        expect(decodeJoin(encodeJoin(request, "")).request).to.deep.equal(request);
      }),
      { examples: [["__proto__"], ['"'], [""]] },
    );
  });

  it("refuses each truncation", () => {
    const body = encodeJoin(REQUEST, "token");
    for (let length = 0; length < body.length; length++) {
      expect(() => decodeJoin(body.subarray(0, length))).to.throw(FrameError);
    }
    for (const answer of ANSWERS.map(encodeJoinAnswer)) {
      for (let length = 0; length < answer.length; length++) {
        expect(() => decodeJoinAnswer(answer.subarray(0, length))).to.throw(FrameError);
      }
    }
  });

  it("raises only FrameErrors, with any bytes or JSON", () => {
    const check = (body: Uint8Array) => {
      for (const decode of [decodeJoin, decodeJoinAnswer]) {
        try {
          decode(body);
        } catch (error) {
          expect(error).to.be.instanceOf(FrameError);
        }
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), check));
    fc.assert(fc.property(fc.json(), (json) => check(Buffer.from(json))));
  });

  it("refuses a Hello, lacking fields, an unknown answer, an id of 0 and a member that is listed twice", () => {
    const wrong = [
      { result: "MAYBE" },
      { result: "SLOT_TAKEN", memberId: 0 },
      { ...ANSWERS[0], directory: [member(1), member(1)] },
      { ...ANSWERS[0], directory: [{ ...member(1), incarnation: "XYZ" }] },
      { ...ANSWERS[0], index: -1 },
      { ...ANSWERS[0], clusterId: "the cluster" },
    ];
    for (const answer of wrong) {
      expect(() => decodeJoinAnswer(Buffer.from(JSON.stringify(answer)))).to.throw(FrameError);
    }
    for (const lacking of ["peerEndpoint", "grpcEndpoint", "httpEndpoint", "memberId"]) {
      const question = Buffer.from(encodeJoin(REQUEST, "")).toString().replace(lacking, "other");
      expect(() => decodeJoin(Buffer.from(question)), lacking).to.throw(FrameError);
    }
    const hello = Buffer.from(encodeJoin(REQUEST, "")).toString().replace("quoin-join", "quoin-peer");
    expect(() => decodeJoin(Buffer.from(hello))).to.throw(FrameError);
  });

  it("knows the layout", () => {
    expect(Buffer.from(encodeJoin(REQUEST, "t")).toString()).to.equal(
      '{"magic":"quoin-join","protocol":{"min":2,"max":3},"joinToken":"t","clusterName":"demo","clusterId":null,' +
        '"memberId":0,"name":"demo-1","incarnation":"00000000000000000000000000000007",' +
        '"endpoints":{"peerEndpoint":"demo-1.demo-peers:7402","grpcEndpoint":"demo-1.demo-peers:7400",' +
        '"httpEndpoint":"[::1]:7401"},"versions":{"min":1,"max":2}}',
    );
    expect(Buffer.from(encodeJoinAnswer(ANSWERS[2] as JoinAnswer)).toString()).to.equal(
      '{"result":"SLOT_TAKEN","memberId":512}',
    );
  });
});

function member(memberId: number) {
  return { memberId, incarnation: incarnationOf(memberId), address: "a:1" };
}
