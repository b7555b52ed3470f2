import { expect } from "chai";
import fc from "fast-check";
import {
  decodePutResponse,
  decodeRangeResponse,
  decodeStatusResponse,
  encodePutRequest,
  encodeRangeRequest,
} from "./etcd-messages.ts";
import { decodeFields, encodeFields, WireError } from "./wire.ts";

/** header { cluster_id: 2^64 - 1, member_id: 2^63 + 5, revision: 300, raft_term: 2 } */
const HEADER = Buffer.from("0a1b08ffffffffffffffffff011085808080808080808001" + "18ac022002", "hex");

describe("messages of etcd", () => {
  it("are encoded as protocol buffers", () => {
    expect(encodePutRequest("key", Buffer.from("value")).toString("hex")).to.equal("0a036b6579120576616c7565");
    expect(encodeRangeRequest("ü").toString("hex")).to.equal("0a02c3bc");
  });

  it("are decoded, past fields that are not used", () => {
    const previous = Buffer.from("12030a016b", "hex");
    const fixed = Buffer.from("790102030405060708" + "7d01020304", "hex");
    expect(decodePutResponse(Buffer.concat([fixed, HEADER, previous]))).to.equal(300n);
  });

  it("tell a missing key from an empty value", () => {
    expect(decodeRangeResponse(HEADER)).to.deep.equal({ value: null, revision: 300n });
    const empty = decodeRangeResponse(Buffer.concat([HEADER, Buffer.from("12030a016b2001", "hex")]));
    expect(empty.value).to.have.length(0);
    const kept = decodeRangeResponse(Buffer.from("12062a0401020304", "hex"));
    expect([...(kept.value ?? [])]).to.deep.equal([1, 2, 3, 4]);
  });

  it("keep all 64 bits of a member's id", () => {
    const message = Buffer.concat([HEADER, Buffer.from("1205332e372e33" + "2085808080808080808001", "hex")]);
    const id = (1n << 63n) + 5n;
    expect(decodeStatusResponse(message)).to.deep.equal({ version: "3.7.3", memberId: id, leaderId: id });
  });

  it("are refused when cut", () => {
    for (let length = 1; length < HEADER.length; length++) {
      expect(() => decodePutResponse(HEADER.subarray(0, length)), `${length} bytes`).to.throw(WireError);
    }
    expect(() => decodePutResponse(Buffer.from("0b", "hex"))).to.throw(WireError, "unknown type");
    expect(() => decodePutResponse(Buffer.alloc(11, 0xff))).to.throw(WireError, "64 bits");
  });

  it("hold fields of any length", () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(16_383, 16_384, 70_000));
    fc.assert(
      fc.property(fc.array(lengths, { maxLength: 5 }), (sizes) => {
        const fields = sizes.map((size, at) => ({ number: at + 1, bytes: new Uint8Array(size).fill(at) }));
        const decoded = [...decodeFields(encodeFields(fields))].map(({ number, bytes }) => ({
          number,
          bytes: Uint8Array.from(bytes ?? []),
        }));
        expect(decoded).to.deep.equal(fields);
      }),
    );
  });
});
