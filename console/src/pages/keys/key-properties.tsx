/** Revisions, version and expiry of a key. */

import type { JSX } from "preact";
import { bytesOfBase64, countText, durationText, sizeText } from "../../text/index.ts";
import { Chip } from "../../ui/index.ts";

export interface KeyPropertiesProps {
  readonly kv: {
    readonly value: string;
    readonly createRevision: string;
    readonly modRevision: string;
    readonly version: string;
    readonly expiresInMs: string;
  };
  /** Whether changes arrive as they happen. */
  readonly isLive: boolean;
  readonly isGone: boolean;
}

export function KeyProperties({ kv, isLive, isGone }: KeyPropertiesProps): JSX.Element {
  const expiresInMs = Number(kv.expiresInMs);
  return (
    <dl class="properties">
      <div>
        <dt>State</dt>
        <dd>
          {isGone ? <Chip tone="bad">deleted</Chip> : isLive ? <Chip tone="good">live</Chip> : <Chip>exists</Chip>}
        </dd>
      </div>
      <div>
        <dt>Revision</dt>
        <dd>{countText(Number(kv.modRevision))}</dd>
      </div>
      <div>
        <dt>Created at</dt>
        <dd>{countText(Number(kv.createRevision))}</dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>{countText(Number(kv.version))}</dd>
      </div>
      <div>
        <dt>Size</dt>
        <dd>{sizeText(bytesOfBase64(kv.value).length)}</dd>
      </div>
      <div>
        <dt>Expires in</dt>
        <dd>{expiresInMs === 0 ? "never" : durationText(expiresInMs)}</dd>
      </div>
    </dl>
  );
}
