import { expect } from "chai";

import { InvariantViolation } from "../../primitives/index.ts";
import { EntryPlaces } from "./entry-places.ts";

describe("places of entries", () => {
  it("are those of a plain map, whatever is added, truncated and dropped", () => {
    let random = 1;
    const below = (bound: number): number => {
      random = (random * 48_271) % 2_147_483_647;
      return random % bound;
    };
    const places = new EntryPlaces();
    let model = new Map<number, { segment: number; offset: number; length: number }>();
    for (let step = 0; step < 400; step++) {
      switch (below(10)) {
        case 0:
          places.truncate(places.next - below(Math.min(50, places.next - places.first + 1)));
          break;
        case 1:
          places.dropBelow(places.first + below(2_000));
          break;
        case 2:
          if (below(10) === 0) {
            places.truncate(places.next + 1 + below(100));
          }
          break;
        default:
          for (let count = below(500); count > 0; count--) {
            const place = { segment: below(1_000), offset: below(2 ** 31), length: below(1_000_000) };
            model.set(places.next, place);
            places.add(place.segment, place.offset, place.length);
          }
      }
      model = new Map([...model].filter(([index]) => index >= places.first && index < places.next));
      expect(model.size).to.equal(places.next - places.first);
      for (const index of [places.first, places.next - 1, places.first + below(1 + model.size)]) {
        expect(places.has(index)).to.equal(model.has(index));
        if (model.has(index)) {
          expect(places.of(index)).to.deep.equal(model.get(index));
        }
      }
    }
  });

  it("begin anew where nothing adjoins", () => {
    const places = new EntryPlaces();
    places.add(1, 64, 100);
    places.truncate(10);
    expect([places.first, places.next, places.has(1)]).to.deep.equal([10, 10, false]);
    places.add(2, 64, 100);
    places.truncate(3);
    expect([places.first, places.next, places.has(10)]).to.deep.equal([3, 3, false]);
    places.dropBelow(20);
    expect([places.first, places.next]).to.deep.equal([20, 20]);
    expect(() => places.of(20)).to.throw(InvariantViolation, "only entries of the log have a place");
  });
});
