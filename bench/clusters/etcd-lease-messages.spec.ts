import { expect } from "chai";
import {
  decodeKeepAliveResponse,
  decodeLeaseGrantResponse,
  decodeLeasesResponse,
  encodeKeepAliveRequest,
  encodeLeaseGrantRequest,
  encodeLeasesRequest,
} from "./etcd-lease-messages.ts";

/** header { revision: 300 } */
const HEADER = "0a0318ac02";
const ID = (1n << 63n) - 1n;
const ID_HEX = "ffffffffffffffff7f";

describe("messages of etcd for leases", () => {
  it("are encoded as protocol buffers", () => {
    expect(encodeLeaseGrantRequest(3_600n).toString("hex")).to.equal("08901c");
    expect(encodeKeepAliveRequest(ID).toString("hex")).to.equal(`08${ID_HEX}`);
    expect(encodeLeasesRequest().toString("hex")).to.equal("");
  });

  it("contain the lease, or why there is none", () => {
    const granted = decodeLeaseGrantResponse(Buffer.from(`${HEADER}10${ID_HEX}18901c`, "hex"));
    expect(granted).to.deep.equal({ id: ID, error: "", revision: 300n });
    const refused = decodeLeaseGrantResponse(Buffer.from(`${HEADER}22026e6f`, "hex"));
    expect(refused).to.deep.equal({ id: 0n, error: "no", revision: 300n });
  });

  it("contain the time to live of a lease, which is 0 without one", () => {
    const kept = decodeKeepAliveResponse(Buffer.from(`${HEADER}10${ID_HEX}18901c`, "hex"));
    expect(kept).to.deep.equal({ id: ID, ttlSeconds: 3_600n, revision: 300n });
    const ended = decodeKeepAliveResponse(Buffer.from(`${HEADER}10${ID_HEX}`, "hex"));
    expect(ended).to.deep.equal({ id: ID, ttlSeconds: 0n, revision: 300n });
  });

  it("contain all leases", () => {
    expect(decodeLeasesResponse(Buffer.from(HEADER, "hex"))).to.equal(0);
    expect(decodeLeasesResponse(Buffer.from(`${HEADER}1202080112020802`, "hex"))).to.equal(2);
  });
});
