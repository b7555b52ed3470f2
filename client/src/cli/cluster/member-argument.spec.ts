import { expect } from "chai";
import type { MemberSlot, Membership } from "../../index.ts";
import { NotFoundError, UsageError } from "../errors/index.ts";
import { selectMembers } from "./member-argument.ts";

function membershipOf(...members: readonly (readonly [id: string, name: string])[]): Membership {
  const slots = members.map(
    ([id, name]): MemberSlot => ({
      id,
      name,
      peerEndpoint: "",
      grpcEndpoint: "",
      httpEndpoint: "",
      voter: true,
      incarnation: "",
      lagMs: 0,
      contactAgeMs: 0,
      promotable: false,
    }),
  );
  return { clusterId: "c", term: 1, configIndex: 1, commitIndex: 1, changing: false, leaderId: "1", members: slots };
}

const membership = membershipOf(["1", "q-0"], ["7", "q-1"], ["9", "7"], ["12", "__proto__"]);

function idsOf(...wanted: readonly string[]): string[] {
  return selectMembers(membership, wanted).map(({ id }) => id);
}

describe("members as arguments", () => {
  it("are ids or names, and count once", () => {
    expect(idsOf("q-1", "1", "__proto__", "q-0")).to.deep.equal(["7", "1", "12"]);
  });

  it("must exist", () => {
    for (const wanted of ["q-2", "2", "", "constructor"]) {
      expect(() => idsOf("1", wanted))
        .to.throw(NotFoundError, JSON.stringify(wanted))
        .with.property("reason", "MEMBER_NOT_FOUND");
    }
  });

  it("must be unambiguous: not the id of one member and the name of another", () => {
    expect(() => idsOf("7")).to.throw(UsageError, "7");
    expect(idsOf("9")).to.deep.equal(["9"]);
    expect(selectMembers(membershipOf(["7", "7"]), ["7"])).to.have.length(1);
  });
});
