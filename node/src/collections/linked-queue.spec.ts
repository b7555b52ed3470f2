import { expect } from "chai";
import fc from "fast-check";
import { LinkedQueue, Links } from "./linked-queue.ts";

class Member {
  readonly links = new Links<Member>();
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }
}

function numbersOf(queue: LinkedQueue<Member>): number[] {
  const numbers: number[] = [];
  for (let member = queue.first; member !== null; member = member.links.next) {
    numbers.push(member.number);
  }
  return numbers;
}

describe("a linked queue", () => {
  const membersOf = (count: number) => Array.from({ length: count }, (_, at) => new Member(at));

  it("keeps its members in the order in which they joined, whichever member leaves", () => {
    const steps = fc.array(fc.record({ number: fc.nat(7), isPush: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (taken) => {
        const members = membersOf(8);
        const queue = new LinkedQueue<Member>();
        let expected: number[] = [];
        for (const { number, isPush } of taken) {
          const member = members[number] as Member;
          if (isPush) {
            queue.push(member);
            expected = expected.includes(number) ? expected : [...expected, number];
          } else {
            queue.remove(member);
            expected = expected.filter((other) => other !== number);
          }
          expect(numbersOf(queue)).to.deep.equal(expected);
          expect(queue.last?.number).to.equal(expected.at(-1));
        }
      }),
    );
  });

  it("leaves no reference to or from a member that has left", () => {
    const [first, middle, last] = membersOf(3) as [Member, Member, Member];
    const queue = new LinkedQueue<Member>();
    for (const member of [first, middle, last]) {
      queue.push(member);
    }
    queue.remove(middle);
    expect(middle.links).to.deep.equal(new Links());
    expect(first.links.next).to.equal(last);
    expect(last.links.previous).to.equal(first);
    queue.remove(first);
    queue.remove(last);
    expect(queue.first).to.equal(null);
    expect(last.links).to.deep.equal(new Links());
  });
});
