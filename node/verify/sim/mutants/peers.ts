/** Bugs in the connections between members. */

import type { Mutant } from "./mutant.ts";

export const PEER_MUTANTS: readonly Mutant[] = [
  {
    name: "connections-of-a-former-boot-stay",
    pitfall: "P34",
    file: "peers/peer-transport.ts",
    find: "      this.#incoming.endBootsBelow(incarnation, boot);",
    replace: "",
  },
  {
    name: "older-connection-stays",
    pitfall: "P34",
    file: "peers/incoming.ts",
    find: '    this.get(source.incarnation, kind)?.connection.end("a newer connection took its place");',
    replace: "",
  },
  {
    name: "restart-not-told",
    pitfall: "P34",
    file: "peers/seen-boots.ts",
    find: "return before > 0 && boot > before;",
    replace: "return before > boot;",
  },
  {
    name: "other-directory-under-a-members-id",
    pitfall: "P46",
    file: "peers/hello.ts",
    find: 'if (known !== undefined && known !== "" && known !== source.incarnation) {',
    replace: 'if (known === "" && known !== source.incarnation) {',
  },
  {
    name: "old-copy-of-a-directory-accepted",
    pitfall: "P46",
    file: "peers/hello.ts",
    find: 'return source.boot < bootSeen ? "STALE" : null;',
    replace: "return null;",
  },
  {
    name: "removed-by-one-that-lags",
    pitfall: "P46",
    file: "peers/hello.ts",
    find: "if (known === undefined && source.memberId <= ",
    replace: "if (known === undefined && 0 <= ",
  },
  {
    name: "other-cluster-accepted",
    pitfall: "P47",
    file: "peers/hello.ts",
    find: "if (view.clusterId === null || hello.clusterId !== view.clusterId) {",
    replace: "if (view.clusterId === null) {",
  },
  {
    name: "damage-not-announced",
    pitfall: "P46",
    file: "peers/peer-transport.ts",
    find: "source: { memberId, incarnation, boot, damaged, versions },",
    replace: "source: { memberId, incarnation, boot, damaged: damaged && boot < 0, versions },",
  },
];
