import { expect } from "chai";
import fc from "fast-check";
import { ReceiveWindow } from "./receive-window.ts";

describe("a receive window", () => {
  it("takes no more than its size", () => {
    const window = new ReceiveWindow(100);
    expect(window.receive(60)).to.equal(true);
    expect(window.receive(41)).to.equal(false);
    expect(window.receive(40)).to.equal(true);
    expect(window.receive(1)).to.equal(false);
  });

  it("grows by the consumed bytes, when they are half of its size", () => {
    const window = new ReceiveWindow(100);
    window.receive(100);
    expect(window.release(49)).to.equal(0);
    expect(window.receive(1)).to.equal(false);
    expect(window.release(1)).to.equal(50);
    expect(window.receive(50)).to.equal(true);
  });

  it("never has more unread bytes than its size, whatever is received and consumed", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.tuple(fc.nat(30), fc.nat(30))), (size, steps) => {
        const window = new ReceiveWindow(size);
        let unread = 0;
        let granted = size;
        for (const [received, taken] of steps) {
          const isReceived = window.receive(received);
          expect(isReceived).to.equal(received <= granted);
          unread += isReceived ? received : 0;
          granted -= isReceived ? received : 0;
          const given = Math.min(taken, unread);
          granted += window.release(given);
          unread -= given;
          expect(window.unreadBytes).to.equal(unread);
          expect(unread + granted).to.be.at.most(size);
        }
        // A consumer that takes everything lets the peer continue.
        granted += window.release(unread);
        expect(granted).to.be.greaterThan(0);
      }),
    );
  });
});
