/** A user: “you”, the e-mail address where the signed-in user may know it, else the beginning of the id. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { currentUser } from "../session/index.ts";
import { emailOf, learnEmail } from "./emails.ts";

export interface PersonProps {
  readonly userId: string;
  /** The address, where the member has told it; empty = it has not. */
  readonly email?: string;
}

const SHOWN_CHARACTERS = 8;

export function Person({ userId, email = "" }: PersonProps): JSX.Element {
  const isSelf = userId === currentUser.value?.userId;
  const known = isSelf ? "you" : email || emailOf(userId);
  useEffect(() => {
    if (known === undefined) {
      void learnEmail(userId);
    }
  });
  return (
    <span class={known === undefined ? "person mono" : "person"} title={userId}>
      {known ?? (userId.length > SHOWN_CHARACTERS ? `${userId.slice(0, SHOWN_CHARACTERS)}…` : userId)}
    </span>
  );
}
