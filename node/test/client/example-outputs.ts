/** What each example of the SDK prints, in its lines. They may run in any order, and again. */

export const EXAMPLE_OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  "keys.mjs": [
    'read "hello"',
    "changed it",
    "a second change is refused: true",
    "listed example/greeting, version 2",
    "listed example/number, version 1",
    "removed it",
  ],
  "quick-start.cjs": ['read "hello"', "removed it"],
  "locks.mjs": [
    "the first holds the lock, guarded: true",
    "the second holds it under a greater token: true",
    "a late write of the first is refused",
    "a READ and a READ hold the read-write lock",
    "then it is FREE",
  ],
  "memory.mjs": [
    "hello, world",
    "wrote 4128768 of 6291456 bytes",
    "wrote 6291456 of 6291456 bytes",
    "read the same: true",
    "shrunk to 12 bytes",
  ],
  "watch.mjs": [
    "PUT example-watch/count: one, before: nothing",
    "PUT example-watch/count: two, before: one",
    "later: PUT three",
    "later: DELETE three",
  ],
  "logs.mjs": [
    "stored as 1, then again as 1, replayed: true",
    "another client was faster: the last one is 2",
    "a batch is stored as 3, 4, 5",
    'read 2 "order 2", 3 "order 3\\nof two lines"',
    "followed 4, 0 bytes",
    "followed 5, 2 bytes",
    "followed 6, 12 bytes",
  ],
  "accounts.mjs": [
    "listed the key example, which begins with its prefix: true",
    "revoked it once: true",
    "grace@example.com is a viewer in default, and unverified",
    "now a member",
    "gone",
    "requests of this month, with the same sum over its hours as in total: true",
  ],
  "election.mjs": [
    "the leader is first",
    "the leader is second, under a greater token: true",
    "the last leader that was observed is second",
    "afterwards the leader is none",
  ],
};
