import { expect } from "chai";
import {
  decodeHeaderOnly,
  decodePutsResponse,
  decodeRangeResponse,
  decodeStatusResponse,
  decodeSwapResponse,
  encodeCountRequest,
  encodePutRequest,
  encodePutsRequest,
  encodeRangeRequest,
  encodeSwapRequest,
} from "./etcd-messages.ts";
import { WireError } from "./wire.ts";

/** header { cluster_id: 2^64 - 1, member_id: 2^63 + 5, revision: 300, raft_term: 2 } */
const HEADER = Buffer.from("0a1b08ffffffffffffffffff011085808080808080808001" + "18ac022002", "hex");
const MEMBER_ID = (1n << 63n) + 5n;

function after(hex: string): Buffer {
  return Buffer.concat([HEADER, Buffer.from(hex, "hex")]);
}

describe("messages of etcd", () => {
  it("are encoded as protocol buffers", () => {
    expect(encodePutRequest("key", Buffer.from("value")).toString("hex")).to.equal("0a036b6579120576616c7565");
    expect(encodeRangeRequest("ü").toString("hex")).to.equal("0a02c3bc");
    expect(encodeCountRequest("a/").toString("hex")).to.equal("0a02612f" + "12026130" + "4801");
    const compare = "0a0a" + "0800" + "1002" + "1a016b" + "30ac02";
    const put = "1208" + "1206" + "0a016b" + "120176";
    expect(encodeSwapRequest("k", 300n, Buffer.from("v")).toString("hex")).to.equal(compare + put);
    const other = "1208" + "1206" + "0a016c" + "120176";
    expect(encodePutsRequest(["k", "l"], Buffer.from("v")).toString("hex")).to.equal(put + other);
  });

  it("are decoded, past fields that are not used", () => {
    const previous = Buffer.from("12030a016b", "hex");
    const fixed = Buffer.from("790102030405060708" + "7d01020304", "hex");
    const header = { memberId: MEMBER_ID, revision: 300n, term: 2n };
    expect(decodeHeaderOnly(Buffer.concat([fixed, HEADER, previous]))).to.deep.equal(header);
    expect(decodeHeaderOnly(previous)).to.deep.equal({ memberId: 0n, revision: 0n, term: 0n });
  });

  it("distinguish a missing key from an empty value, and contain the count", () => {
    expect(decodeRangeResponse(HEADER)).to.deep.equal({ first: null, count: 0, revision: 300n });
    const empty = decodeRangeResponse(after("12030a016b2001"));
    expect([empty.first?.key, empty.first?.value.length, empty.count]).to.deep.equal(["k", 0, 1]);
    const kept = decodeRangeResponse(after("1209" + "18ac02" + "2a0401020304" + "12030a016c" + "2002"));
    expect([...(kept.first?.value ?? [])]).to.deep.equal([1, 2, 3, 4]);
    expect([kept.first?.modRevision, kept.count]).to.deep.equal([300n, 2]);
  });

  it("contain whether a comparison succeeded", () => {
    expect(decodeSwapResponse(after("1001" + "1a021200"))).to.deep.equal({ isDone: true, revision: 300n });
    expect(decodeSwapResponse(after("1000"))).to.deep.equal({ isDone: false, revision: 300n });
    expect(decodeSwapResponse(HEADER)).to.deep.equal({ isDone: false, revision: 300n });
  });

  it("contain one result for each operation of a transaction", () => {
    const result = "1a02" + "1200";
    expect(decodePutsResponse(after(`1001${result}${result}`))).to.deep.equal({ results: 2, revision: 300n });
    expect(decodePutsResponse(HEADER)).to.deep.equal({ results: 0, revision: 300n });
  });

  it("keep all 64 bits of a member's id", () => {
    const status = decodeStatusResponse(after("1205332e372e33" + "2085808080808080808001"));
    expect(status).to.deep.equal({ version: "3.7.3", memberId: MEMBER_ID, leaderId: MEMBER_ID, term: 2n });
  });

  it("are refused when cut", () => {
    for (let length = 1; length < HEADER.length; length++) {
      expect(() => decodeHeaderOnly(HEADER.subarray(0, length)), `${length} bytes`).to.throw(WireError);
    }
  });
});
