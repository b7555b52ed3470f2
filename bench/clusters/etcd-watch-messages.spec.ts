import { expect } from "chai";
import { decodeWatchResponse, encodeWatchRequest } from "./etcd-watch-messages.ts";
import { WireError } from "./wire.ts";

/** header { revision: 300 }, and the id of the watch */
const HEADER = "0a0318ac021005";
/** kv { key: "k", create_revision: 2, mod_revision: 300, value: "v" } */
const PUT = "120b" + "0a016b" + "1002" + "18ac02" + "2a0176";

function decode(hex: string) {
  return decodeWatchResponse(Buffer.from(HEADER + hex, "hex"));
}

describe("messages of etcd for watches", () => {
  it("request all keys with a prefix", () => {
    expect(encodeWatchRequest("w/").toString("hex")).to.equal("0a08" + "0a02772f" + "12027730");
  });

  it("confirm that the watch is in place, and then contain the puts", () => {
    expect(decode("1801")).to.deep.equal({ isCreated: true, puts: [] });
    const put = { key: "k", revision: 300n };
    expect(decode(`5a0d${PUT}`)).to.deep.equal({ isCreated: false, puts: [put] });
    expect(decode(`5a0d${PUT}5a0d${PUT}`).puts).to.deep.equal([put, put]);
  });

  for (const [what, hex, message] of [
    ["a deletion", `5a0f0801${PUT}`, "an event of type 1"],
    ["an event without a key", "5a00", "has no key"],
    ["a cancelled watch", "2001" + "32026e6f", "cancelled: no"],
  ] as const) {
    it(`are refused with ${what}`, () => {
      expect(() => decode(hex)).to.throw(message);
    });
  }

  it("are refused when cut", () => {
    expect(() => decode(`5a0d${PUT.slice(0, -2)}`)).to.throw(WireError);
  });
});
