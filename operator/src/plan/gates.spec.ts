import { crashing, failed, NOW, Scene, table } from "../../test/index.ts";

const MINUTE_MS = 60_000;

describe("planner", () => {
  table("Roll, after members have failed", [
    [
      "a member of the new template that was ended for its memory, and is well again, however long ago",
      () => failed(new Scene(3).outdated(0, 1), 2, 15 * MINUTE_MS),
      "Roll holds: NewTemplateFails demo-1",
    ],
    [
      "one that has failed, and is well again",
      () => failed(new Scene(3).outdated(0, 1), 2, 10 * MINUTE_MS - 1, "Error"),
      "Roll holds: NewTemplateFails demo-1",
    ],
    [
      "one that has failed long ago",
      () => failed(new Scene(3).outdated(0, 1), 2, 10 * MINUTE_MS, "Error"),
      "Roll: evict demo-1",
    ],
    [
      "one that has ended by itself without a failure",
      () => failed(new Scene(3).outdated(0, 1), 2, MINUTE_MS, "Completed"),
      "Roll holds: NewTemplateFails demo-1",
    ],
    [
      "one that fails, and is not healthy",
      () => crashing(new Scene(3).outdated(0, 1), 2),
      "Roll holds: NewTemplateFails demo-1",
    ],
    [
      "the leader, after a failure of a follower",
      () => failed(new Scene(3).outdated(0), 2, MINUTE_MS),
      "Roll holds: NewTemplateFails demo-0",
    ],
    [
      "back to the template of one that was ended for its memory before the roll",
      () => failed(new Scene(3).outdated(2).pod(2, { created: NOW - 5 * MINUTE_MS }), 0, MINUTE_MS),
      "Roll: evict demo-2",
    ],
    [
      "one of the template before that was ended for its memory: the new one may be the cure",
      () => failed(new Scene(3).outdated(0, 1, 2), 2, MINUTE_MS),
      "Roll: evict demo-2",
    ],
  ]);

  const pending = (): Scene => new Scene(3).claim(1, { resizePendingSince: NOW - 5 * MINUTE_MS });
  table("ResizeRestart, after members have failed", [
    [
      "while another has just failed",
      () => failed(pending(), 2, 10 * MINUTE_MS - 1),
      "ResizeRestart holds: MemberUnhealthy demo-1",
    ],
    [
      "while another was ended for its memory long ago",
      () => failed(pending(), 2, 10 * MINUTE_MS),
      "ResizeRestart: evict demo-1",
    ],
  ]);
});
