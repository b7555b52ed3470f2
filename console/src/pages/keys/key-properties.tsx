/** Revisions, version and expiry of a key. */

import type { JSX } from "preact";
import { SessionLink } from "../../page/index.ts";
import { bytesOfBase64, countText, durationText, sizeText } from "../../text/index.ts";
import { Chip, Properties } from "../../ui/index.ts";

export interface KeyPropertiesProps {
  readonly kv: {
    readonly value: string;
    readonly createRevision: string;
    readonly modRevision: string;
    readonly version: string;
    readonly expiresInMs: string;
    readonly sessionId: string;
  };
  readonly namespace: string;
  /** Whether changes arrive as they happen. */
  readonly isLive: boolean;
  readonly isGone: boolean;
}

export function KeyProperties({ kv, namespace, isLive, isGone }: KeyPropertiesProps): JSX.Element {
  const expiresInMs = Number(kv.expiresInMs);
  return (
    <Properties
      items={[
        [
          "State",
          isGone ? <Chip tone="bad">deleted</Chip> : isLive ? <Chip tone="good">live</Chip> : <Chip>exists</Chip>,
        ],
        ["Revision", countText(Number(kv.modRevision))],
        ["Created at", countText(Number(kv.createRevision))],
        ["Version", countText(Number(kv.version))],
        ["Size", sizeText(bytesOfBase64(kv.value).length)],
        ["Expires in", expiresInMs === 0 ? "never" : durationText(expiresInMs)],
        ...(kv.sessionId === "0"
          ? []
          : [["Session", <SessionLink namespace={namespace} id={kv.sessionId} />] as const]),
      ]}
    />
  );
}
