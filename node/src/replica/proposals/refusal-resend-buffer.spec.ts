import { expect } from "chai";
import { RefusalResendBuffer } from "./refusal-resend-buffer.ts";

const refused = (seq: number) => ({ seqs: [seq], reason: "no-quorum", leader: 1, term: 3 });

describe("RefusalResendBuffer", () => {
  it("keeps what a peer was refused for as long as a call may wait, in its order", () => {
    const told = new RefusalResendBuffer();
    told.add(2, 7, refused(1), 0);
    told.add(2, 7, refused(2), 30_000);
    told.add(3, 1, refused(9), 0);
    expect(told.of(2, 7, 60_000)).to.deep.equal([refused(1), refused(2)]);
    expect(told.of(2, 7, 60_001)).to.deep.equal([refused(2)]);
    expect(told.of(4, 1, 0)).to.deep.equal([]);
  });

  it("keeps so many of them, the newest", () => {
    const told = new RefusalResendBuffer();
    for (let seq = 1; seq <= 100; seq++) {
      told.add(2, 7, refused(seq), 0);
    }
    const seqs = told.of(2, 7, 0).flatMap((one) => one.seqs);
    expect([seqs.length, seqs[0], seqs.at(-1)]).to.deep.equal([64, 37, 100]);
  });

  it("forgets what another start of the peer had asked", () => {
    const told = new RefusalResendBuffer();
    told.add(2, 7, refused(1), 0);
    expect(told.of(2, 8, 0)).to.deep.equal([]);
    told.add(2, 8, refused(1), 0);
    told.add(2, 9, refused(2), 0);
    expect(told.of(2, 9, 0)).to.deep.equal([refused(2)]);
  });
});
